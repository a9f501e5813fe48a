#!/usr/bin/python3
"""scripts/no_slower.py, and the steps of docs/ci_example.yml that need no network.

    scripts/no_slower_test.py WEFT
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
WEFT = pathlib.Path(sys.argv.pop(1)).resolve()


class InAFolder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weft_no_slower_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def summary(self, name, **times):
        self.write(name, json.dumps({"modes": {mode: {"time_us": time}
                                               for mode, time in times.items()}}))

    def compare(self, *arguments):
        return subprocess.run([ROOT / "scripts/no_slower.py", *arguments], cwd=self.folder,
                              capture_output=True, text=True)


class NoSlower(InAFolder):
    def test_equal_and_faster_pass_and_slower_fails(self):
        self.summary("before.json", bulk=100.0, fused=50.0)
        self.summary("after.json", bulk=100.0, fused=40.0)
        done = self.compare("before.json", "after.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("after     fused  50.000 us   40.000 us   -20.00 %\n", done.stdout)
        self.summary("after.json", bulk=100.0, fused=51.0)
        done = self.compare("before.json", "after.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("+2.00 %  SLOWER\n", done.stdout)
        self.assertEqual(done.stderr, "no_slower.py: 1 of 2 times grew by more than 0 %\n")

    def test_the_bound_itself_is_allowed(self):
        self.summary("before.json", bulk=200.0)
        self.summary("after.json", bulk=205.0)
        for most, status in (("2.5", 0), ("2.4", 1)):
            done = self.compare("before.json", "after.json", "--max-percent", most)
            self.assertEqual(done.returncode, status, done.stdout)

    def test_folders_are_compared_by_name_and_what_one_side_lacks_is_told(self):
        self.summary("a/x/one.json", bulk=1e3, fused=1.0)
        self.summary("a/gone.json", bulk=1e6)
        self.summary("b/x/one.json", bulk=1e3, kernel=2.0)
        self.summary("b/new.json", bulk=1.0)
        done = self.compare("a", "b", "--markdown", "table.md")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = {tuple(line.split()[:2]): line for line in done.stdout.splitlines()}
        self.assertTrue(lines["x/one", "bulk"].endswith("1.000 ms  1.000 ms  +0.00 %"))
        self.assertTrue(lines["x/one", "fused"].endswith("gone"))
        self.assertTrue(lines["x/one", "kernel"].endswith("new"))
        self.assertTrue(lines["gone", "bulk"].endswith("gone"))
        self.assertTrue(lines["new", "bulk"].endswith("new"))
        table = (self.folder / "table.md").read_text()
        self.assertIn("| x/one | bulk | 1.000 ms | 1.000 ms | +0.00 % |  |\n", table)

    def test_every_mistake_is_told_at_once(self):
        self.write("a/one.json", '{"modes": {"bulk": {}}}')
        self.write("a/two.json", '{"modes":\n')
        self.summary("b/one.json", bulk=1)
        self.write("b/two.json", "[]")
        done = self.compare("a", "b")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        for said in ("a/one.json: no summary of weft run --json", "a/two.json:2:1: not JSON: ",
                     "b/two.json: no summary of weft run --json"):
            self.assertIn(f"no_slower.py: error: {said}", done.stderr)
        (self.folder / "empty").mkdir()
        self.assertIn("empty: holds no NAME.json", self.compare("a", "empty").stderr)
        self.assertIn("nowhere: No such file", self.compare("nowhere", "b/one.json").stderr)
        self.assertIn("one is a folder, the other is not", self.compare("a", "b/one.json").stderr)


class Workflow(InAFolder):
    """The steps as they stand, run by bash as GitHub's runner does."""

    SCENARIO = ("base: scenarios/embedding_a2a_4_gpus\nname: small\n"
                "workload: {batch: 256, tables_per_gpu: 4, pooling: %d}\n")

    def setUp(self):
        super().setUp()
        self.workflow = yaml.safe_load((ROOT / "docs/ci_example.yml").read_text())
        built = self.folder / "weft/build/release/sim"
        built.mkdir(parents=True)
        (built / "weft").symlink_to(WEFT)
        (self.folder / "weft/scripts").symlink_to(ROOT / "scripts")

    def run_step(self, name):
        job = self.workflow["jobs"]["no_slower"]
        step, = (one for one in job["steps"] if one.get("name") == name)
        environment = {**os.environ, "MAX_PERCENT": self.workflow["env"]["MAX_PERCENT"],
                       "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md")}
        return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c",
                               step["run"]], cwd=self.folder, env=environment,
                              capture_output=True, text=True)

    def scenarios(self, before, after):
        self.write("before/scenarios/deep/a b.yaml", self.SCENARIO % before)
        self.write("after/scenarios/deep/a b.yaml", self.SCENARIO % after)

    def test_a_scenario_that_got_slower_fails(self):
        self.scenarios(before=70, after=140)
        done = self.run_step("Simulate both branches")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_step("Compare")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("SLOWER", done.stdout)
        self.assertIn("| deep/a b | bulk |", (self.folder / "summary.md").read_text())

    def test_one_that_did_not_and_a_new_one_pass(self):
        self.scenarios(before=70, after=60)
        self.write("after/scenarios/new.yaml", self.SCENARIO % 10)
        for step in ("Simulate both branches", "Compare"):
            done = self.run_step(step)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(any(line.startswith("new ") for line in done.stdout.splitlines()))

    def test_the_pull_request_that_brings_the_first_scenario_passes(self):
        (self.folder / "before").mkdir()
        self.write("after/scenarios/new.yaml", self.SCENARIO % 10)
        for step in ("Simulate both branches", "Compare"):
            done = self.run_step(step)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("nothing to compare with", done.stdout)

    def test_a_scenario_that_fails_fails_the_check_unless_it_is_the_base_branchs(self):
        self.scenarios(before=0, after=60)
        done = self.run_step("Simulate both branches")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("they are not compared", done.stdout)
        self.scenarios(before=70, after=0)
        done = self.run_step("Simulate both branches")
        self.assertEqual(done.returncode, 1)
        self.assertIn("deep/a b.yaml:3:", done.stderr)

    def test_what_is_installed_and_built_is_what_the_scripts_have(self):
        steps = self.workflow["jobs"]["no_slower"]["steps"]
        build, = (step["run"] for step in steps if step.get("name") == "Build weft")
        for line in build.splitlines():
            if line.startswith("scripts/"):
                self.assertTrue((ROOT / line.split()[0]).is_file(), line)
        self.assertIn("cmake --preset release -DBUILD_TESTING=OFF -DWEFT_BENCH=OFF", build)


if __name__ == "__main__":
    unittest.main()
