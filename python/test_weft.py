#!/usr/bin/env python3
"""The Python module, also against the program: equal results, equal messages.

    PYTHONPATH=BUILD/python python/test_weft.py WEFT [unittest arguments]
"""

import ast
import concurrent.futures
import contextlib
import html
import importlib
import io
import json
import os
import pathlib
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zipfile
from unittest import mock

# The module of the build, not that next to this file, which lacks its compiled half.
sys.path = [folder for folder in sys.path if folder != os.path.dirname(os.path.abspath(__file__))]
import weft  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
CONFIGS = ROOT / "configs"
SCENARIO = CONFIGS / "scenarios" / "embedding_a2a_4_gpus.yaml"
SMALL = {"workload.batch": 256, "workload.tables_per_gpu": 4}
SMALL_DICT = {"name": "mine", "base": "scenarios/embedding_a2a_4_gpus",
              "workload": {"batch": 256, "tables_per_gpu": 4}}
SWEEP = {"name": "batches", "scenario": "scenarios/embedding_a2a_4_gpus",
         "set": {"modes": ["bulk", "fused"], "workload.tables_per_gpu": 4},
         "axes": [{"key": "workload.batch", "values": [64, 128, 256]}]}
PROGRAM = None  # given on the command line


def has(module):
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


@contextlib.contextmanager
def dask_executor():
    """Of Dask's local cluster: two processes."""
    import distributed

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1,
                                  dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        yield client.get_executor()


def without(*modules):
    """As if they were not installed."""
    return mock.patch.dict(sys.modules, {module: None for module in modules})


def program(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          check=False)


def set_arguments(overrides):
    return [word for path, value in overrides.items() for word in ("--set", f"{path}={value}")]


class InFolder(unittest.TestCase):
    """Each test in a folder of its own, with no WEFT_CONFIGS."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.chdir, pathlib.Path.cwd())
        os.chdir(self.folder)
        environment = mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        os.environ.pop("WEFT_CONFIGS", None)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


class Runs(InFolder):
    def test_files_are_those_of_the_program(self):
        done = program("run", SCENARIO, *set_arguments(SMALL), "--quiet", "-o", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = weft.run(SCENARIO, SMALL)
        names = {file.name for file in (self.folder / "out").iterdir()} - {"files.json"}
        self.assertEqual(set(result.files), names)
        for name in sorted(names - {"summary.json"}):
            self.assertEqual(result.files[name], (self.folder / "out" / name).read_text(), name)
        theirs = json.loads((self.folder / "out" / "summary.json").read_text())
        for one in (theirs, result.summary):
            for of_this_run in ("wall_s", "events_per_s", "peak_rss_bytes"):
                one["engine"].pop(of_this_run)
        self.assertEqual(result.summary, theirs)

    def test_a_dict_a_path_and_a_text_are_one_scenario(self):
        text = json.dumps(SMALL_DICT)
        hashes = {weft.run(one, modes="bulk", tables=False).summary["scenario_hash"]
                  for one in (SMALL_DICT, text, self.write("mine.yaml", text), "mine.yaml")}
        self.assertEqual(len(hashes), 1)

    def test_overrides_are_values_of_any_type(self):
        result = weft.run(SMALL_DICT, {"run.seed": 7, "cluster.gpu": {"base": "gpus/mi300x"},
                                       "cluster.scale_up.link.bandwidth": "400 Gb/s"}, ["bulk"])
        self.assertEqual(result.summary["seed"], 7)
        self.assertIn("MI300X", result.summary["cluster"])
        self.assertIn("400 Gb/s", result.summary["cluster"])
        self.assertEqual(list(result.modes), ["bulk"])

    def test_letters_of_every_kind_arrive(self):
        self.assertEqual(weft.run({**SMALL_DICT, "name": 'Gerät "π" 🚀'}, modes="bulk",
                                  tables=False).summary["scenario"], 'Gerät "π" 🚀')

    def test_what_is_no_scenario_is_a_type_error(self):
        with self.assertRaisesRegex(TypeError, "not int"):
            weft.run(3)
        with self.assertRaisesRegex(TypeError, "cannot hold a object"):
            weft.run({"name": object()})

    def test_a_run_that_does_not_end_has_no_results(self):
        with self.assertRaisesRegex(weft.RunError, "run.max_events") as raised:
            weft.run(SCENARIO, {"run.max_events": 100})
        self.assertEqual(raised.exception.exit_code, 1)

    def test_warnings_come_with_the_result(self):
        fast = {"name": "fast", "base": "scenarios/embedding_a2a_2_nodes"}
        result = weft.run(fast, {"cluster.scale_out.link.bandwidth": "400 Gb/s",
                                 "workload.batch": 64}, "bulk", tables=False)
        self.assertEqual([(one.path, one.severity) for one in result.warnings],
                         [("cluster.scale_out.link.bandwidth", "warning")])


class Results(InFolder):
    @classmethod
    def setUpClass(cls):
        cls.result = weft.run(SCENARIO, SMALL)

    def test_times_by_mode(self):
        self.assertEqual(list(self.result.modes), ["bulk", "kernel", "fused"])
        self.assertGreater(self.result.time_us("bulk"), self.result.time_us("fused"))
        with self.assertRaisesRegex(ValueError, "'copy_fed' was not run; there are bulk, kernel"):
            self.result.time_us("copy_fed")

    def test_tables_are_lists_where_numpy_is_missing(self):
        with without("numpy"):
            links = self.result.table("links")
        self.assertIsInstance(links["bytes"], list)
        self.assertTrue(all(isinstance(value, int) for value in links["bytes"]))
        self.assertIn("fused", links["mode"])
        with self.assertRaisesRegex(ValueError, "no table 'lnks'; there are operators, links"):
            self.result.table("lnks")

    @unittest.skipUnless(has("numpy"), "no NumPy here")
    def test_tables_are_arrays(self):
        self.assertEqual(self.result.table("over_time")["cu_busy"].dtype.kind, "f")

    @unittest.skipUnless(has("pandas"), "no pandas here")
    def test_frames(self):
        frame = self.result.frame("operators")
        self.assertEqual(set(frame["mode"]), {"bulk", "kernel", "fused"})

    def test_frames_need_pandas(self):
        with without("pandas"), self.assertRaises(ImportError):
            self.result.frame("operators")

    def test_notebooks_show_the_modes(self):
        self.assertIn("<td>fused</td>", self.result._repr_html_())

    def test_they_can_be_pickled(self):
        self.assertEqual(pickle.loads(pickle.dumps(self.result)).files, self.result.files)


class Mistakes(InFolder):
    WRONG = "name: x\nbase: scenarios/embedding_a2a_4_gpus\nworkload: {batc: 4, dim: 9 m}\n"

    def raised(self, scenario, overrides=None):
        with self.assertRaises(weft.ScenarioError) as raised:
            weft.run(scenario, overrides)
        return raised.exception

    def test_all_at_once_each_with_its_place(self):
        error = self.raised(self.WRONG)
        self.assertEqual([(one.file, one.line, one.column, one.path) for one in error.problems],
                         [("<text>", 3, 12, "workload.batc"), ("<text>", 3, 26, "workload.dim")])
        self.assertIn("did you mean 'batch'?", error.problems[0].message)
        self.assertEqual(error.problems[0].severity, "error")

    def test_they_read_as_those_of_the_program(self):
        self.write("wrong.yaml", self.WRONG)
        sweep = CONFIGS / "sweeps" / "link_speed.yaml"
        for file, overrides in (("wrong.yaml", {"cluster.nodez": 3}), ("none.yaml", {}),
                                (sweep, {})):
            done = program("run", file, *set_arguments(overrides))
            self.assertEqual(str(self.raised(file, overrides)), done.stderr.rstrip("\n"))

    def test_they_can_be_pickled(self):
        error = self.raised(self.WRONG)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.problems), (str(error), error.problems))

    def test_what_needs_too_much_memory(self):
        self.assertIn("run.max_memory", str(self.raised(SCENARIO, {"run.max_memory": "1 MB"})))


class ConfigFolders(InFolder):
    GPU = "base: gpus/mi300x\nname: mine\n"

    def cluster(self, **where):
        return weft.run(SMALL_DICT, {"cluster.gpu": {"base": "gpus/mine"}}, "bulk", tables=False,
                        **where).summary["cluster"]

    def test_given_named_in_the_environment_or_above(self):
        self.write("given/gpus/mine.yaml", self.GPU)
        self.assertIn("4 mine", self.cluster(config_dirs=["given"]))
        with self.assertRaises(weft.ScenarioError):
            self.cluster()
        os.environ["WEFT_CONFIGS"] = f"none{os.pathsep}given"
        self.assertIn("4 mine", self.cluster())
        del os.environ["WEFT_CONFIGS"]
        (self.folder / "given").rename("configs")
        os.chdir("configs/gpus")
        self.assertIn("4 mine", self.cluster())

    def test_a_config_by_its_name(self):
        self.assertTrue(weft.config_path("clusters/node_4x_h200").samefile(
            CONFIGS / "clusters" / "node_4x_h200.yaml"))
        with self.assertRaisesRegex(FileNotFoundError, "did you mean 'clusters/node_4x_h200'"):
            weft.config_path("clusters/node_4x_h20")

    def test_installed_it_has_the_configs_of_its_prefix(self):
        module = pathlib.Path(weft.__file__).parent
        there = self.folder / "lib" / "python3" / "dist-packages"
        shutil.copytree(module, there / "weft", ignore=shutil.ignore_patterns("__pycache__"))
        (self.folder / "share" / "weft").mkdir(parents=True)
        (self.folder / "share" / "weft" / "configs").symlink_to(CONFIGS)
        done = subprocess.run(
            [sys.executable, "-c", "import weft; print(weft.config_path('gpus/h200'))"],
            env={**os.environ, "PYTHONPATH": str(there)}, capture_output=True, text=True,
            check=False)
        self.assertEqual(done.stdout.strip(),
                         str(self.folder.resolve() / "share/weft/configs/gpus/h200.yaml"),
                         done.stderr)


class Sweeps(InFolder):
    def test_rows_are_those_of_the_program(self):
        file = self.write("batches.yaml", json.dumps(SWEEP))
        done = program("sweep", file, "--quiet", "-o", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = weft.sweep(file)
        self.assertEqual(rows.csv, (self.folder / "out" / "results.csv").read_text())
        self.assertEqual([row["batch"] for row in rows], [64, 128, 256])
        self.assertEqual(rows.failed, [])
        self.assertGreater(rows[2]["bulk_time_us"], rows[0]["bulk_time_us"])
        self.assertIn("<th>batch</th>", rows._repr_html_())

    def test_executors_change_nothing(self):
        alone = weft.sweep(SWEEP)
        for kind in (concurrent.futures.ProcessPoolExecutor, concurrent.futures.ThreadPoolExecutor):
            with kind(2) as executor:
                self.assertEqual(weft.sweep(SWEEP, executor).csv, alone.csv)

    @unittest.skipUnless(has("distributed"), "python3-distributed is not installed")
    def test_dask_runs_them(self):
        with dask_executor() as executor:
            self.assertEqual(weft.sweep(SWEEP, executor).csv, weft.sweep(SWEEP).csv)

    def test_a_point_that_fails_is_a_row(self):
        rows = weft.sweep({**SWEEP, "axes": [{"key": "workload.batch", "values": [64, 65]},
                                             {"key": "run.max_events", "values": [100, 10**9]}]})
        self.assertEqual([row["status"] for row in rows], ["failed", "ok", "failed", "failed"])
        self.assertIn("reached 100 events", rows.failed[0]["error"])
        self.assertIn("65 samples do not divide", rows.failed[1]["error"])

    def test_overrides_are_for_all_points(self):
        rows = weft.sweep(SWEEP, overrides={"modes": ["bulk"]})
        self.assertNotIn("fused_time_us", rows[0])

    def test_mistakes_all_at_once(self):
        with self.assertRaises(weft.ScenarioError) as raised:
            weft.sweep({**SWEEP, "axes": [{"key": "workload.btch", "values": [1]}], "filter": "x"})
        self.assertEqual([one.path for one in raised.exception.problems], ["axes[0].key", "filter"])

    @unittest.skipUnless(has("pandas"), "no pandas here")
    def test_frames(self):
        self.assertEqual(list(weft.sweep(SWEEP).frame()["batch"]), [64, 128, 256])


class Tunes(InFolder):
    SPACE = {
        "name": "space", "scenario": "scenarios/embedding_a2a_2_nodes",
        "set": {"modes": ["fused"], "workload.tables_per_gpu": 4, "workload.batch": 256},
        "axes": [{"key": "fused.slice_wgs", "values": [1, 2, 4, 8]},
                 {"key": "fused.order", "values": ["remote_first", "local_first"]}],
    }

    def test_finds_what_the_program_finds(self):
        path = self.write("space.yaml", json.dumps(self.SPACE))
        done = program("tune", path, "--points", "5", "-q", "-o", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads((self.folder / "out/tune.json").read_text(encoding="utf-8"))
        tuned = weft.tune(path, points=5)
        for key in ("points", "best", "as_it_is", "defaults", "ties", "knobs", "pairs"):
            self.assertEqual(tuned.answer.get(key), told.get(key), key)
        self.assertEqual(len(tuned.rows), 5)
        best = weft.run(tuned.scenario)
        self.assertEqual(best.time_us("fused"), tuned.best["value"])

    def test_ends_of_ranges_are_asked_for_without_a_word(self):
        tuned = weft.tune(self.SPACE, points=2, minimize="time_high_us")
        plain = weft.tune(self.SPACE, points=2)
        self.assertGreater(tuned.best["value"], plain.best["value"])

    def test_executors_change_nothing(self):
        alone = weft.tune(self.SPACE, points=6)
        for kind in (concurrent.futures.ProcessPoolExecutor, concurrent.futures.ThreadPoolExecutor):
            with kind(3) as executor:
                tuned = weft.tune(self.SPACE, executor, points=6)
                self.assertEqual((tuned.answer, tuned.rows.csv), (alone.answer, alone.rows.csv))

    @unittest.skipUnless(has("distributed"), "python3-distributed is not installed")
    def test_dask_runs_them(self):
        with dask_executor() as executor:
            self.assertEqual(weft.tune(self.SPACE, executor, points=6).answer,
                             weft.tune(self.SPACE, points=6).answer)

    def test_a_column_that_there_is_not(self):
        with self.assertRaisesRegex(weft.RunError, "no point has a 'mfu' above 0"):
            weft.tune(self.SPACE, maximize="mfu", points=2)

    def test_several_objectives_have_a_front(self):
        tuned = weft.tune(self.SPACE, minimize="time_us", maximize=["links_busy_max"], points=8)
        self.assertEqual(tuned.front[0]["value"], tuned.best["value"])
        self.assertEqual(tuned.answer["besides"],
                         [{"column": "links_busy_max", "better": "larger"}])
        self.assertEqual(tuned.best["value"], min(row["fused_time_us"] for row in tuned.rows))

    def test_a_column_given_twice(self):
        with self.assertRaisesRegex(ValueError, "'mfu' is given twice"):
            weft.tune(self.SPACE, minimize="mfu", maximize=["time_us", "mfu"], points=2)

    def test_mistakes_all_at_once(self):
        with self.assertRaises(weft.ScenarioError) as caught:
            weft.tune({"name": "bad", "scenario": "nothing", "axes": []})
        self.assertGreater(len(caught.exception.problems), 0)


class Validations(InFolder):
    MEASURED = ROOT / "calibration" / "measurements" / "vllm-all-reduce.jsonl"

    def test_errors_are_those_of_the_program(self):
        cluster = weft.config_path("clusters/node_8x_h100")
        done = program("validate", self.MEASURED, "--cluster", cluster, "--quiet",
                       "--json", "e.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        validation = weft.validate(self.MEASURED, cluster)
        self.assertEqual(validation.json, (self.folder / "e.json").read_text())
        self.assertEqual(len(validation.outcomes), validation.by_kind["all"]["cases"])
        self.assertGreater(sum(validation.skipped.values()), 0)
        self.assertIn("<td>all</td>", validation._repr_html_())

    def test_an_executor_that_loses_cases_is_told(self):
        class Losing(concurrent.futures.ThreadPoolExecutor):
            def submit(self, fn, *args):
                return super().submit(lambda: fn(*args)[1:])

        with Losing(1) as executor, self.assertRaisesRegex(RuntimeError, "simulated .* cases"):
            weft.validate(self.MEASURED, weft.config_path("clusters/node_8x_h100"),
                          executor=executor)

    def test_executors_change_nothing(self):
        cluster = weft.config_path("clusters/node_8x_h100")
        alone = weft.validate(self.MEASURED, cluster)
        with concurrent.futures.ProcessPoolExecutor(2) as executor:
            self.assertEqual(weft.validate(self.MEASURED, cluster, executor=executor,
                                           known="known").json, alone.json)
            with self.assertRaisesRegex(weft.ScenarioError, "run.sed"):
                weft.validate(self.MEASURED, cluster, sets=["run.sed=3"], executor=executor)

    @unittest.skipUnless(has("distributed"), "python3-distributed is not installed")
    def test_dask_runs_them(self):
        cluster = weft.config_path("clusters/node_8x_h100")
        with dask_executor() as executor:
            self.assertEqual(weft.validate(self.MEASURED, cluster, executor=executor).json,
                             weft.validate(self.MEASURED, cluster).json)

    def test_sets_are_a_list_or_a_dict(self):
        cluster = weft.config_path("clusters/node_8x_h100")
        given = weft.validate(self.MEASURED, cluster, sets={"run.seed": 3})
        self.assertEqual(given.json,
                         weft.validate(self.MEASURED, cluster, sets=["run.seed=3"]).json)

    def test_mistakes_in_the_lines(self):
        lines = self.write("lines.jsonl", '{"kind": 3}\n{"us": 1}\n')
        with self.assertRaises(weft.ScenarioError) as raised:
            weft.validate(lines, weft.config_path("clusters/node_8x_h100"))
        self.assertEqual([one.line for one in raised.exception.problems], [1, 2])


class Known(InFolder):
    """A folder of what was simulated: a pair of a model's, and cases of 2,000 WGs and more."""
    MODEL = {"name": "layers", "cluster": {"base": "clusters/node_8x_h100"},
             "workload": {"kind": "transformer", "phase": "prefill", "sequences": 1,
                          "sequence_length": 4096, "microbatch": 1,
                          "model": {"layers": 2, "hidden": 2048, "heads": 16, "kv_heads": 8,
                                    "inner": 8192, "vocabulary": 4096},
                          "parallel": {"tensor": 8, "sequence": True}},
             "modes": ["bulk", "fused"]}

    def files(self):
        return sorted(path.name for path in (self.folder / "known").iterdir())

    def same(self, ask):
        """What it gives without a folder, with an empty one and with a full one; then no more is
        written into it."""
        first = ask(None)
        self.assertEqual(ask("known"), first)
        kept = self.files()
        self.assertGreater(len(kept), 0)
        self.assertEqual(ask("known"), first)
        self.assertEqual(self.files(), kept)

    def test_changes_nothing_of_a_run(self):
        def ask(known):
            summary = weft.run(self.MODEL, tables=False, known=known).summary
            summary.pop("engine")
            return summary
        self.same(ask)

    def test_changes_nothing_of_a_sweep_in_other_processes(self):
        sweep = {"name": "orders", "scenario": str(self.write("layers.yaml",
                                                              json.dumps(self.MODEL))),
                 "axes": [{"key": "fused.order", "values": ["remote_first", "local_first"]}]}
        with concurrent.futures.ProcessPoolExecutor(2) as executor:
            self.same(lambda known: weft.sweep(sweep, executor, known=known).csv)

    def test_changes_nothing_of_a_search(self):
        space = {"name": "pairs", "scenario": str(self.write("layers.yaml",
                                                             json.dumps(self.MODEL))),
                 "set": {"modes": ["mixed"],
                         "workload.pairs": [{"pair": "mlp_down", "mode": "fused"}]},
                 "axes": [{"key": "workload.pairs.0.slice_wgs", "values": [1, 2, 4]}]}
        self.same(lambda known: weft.tune(space, points=2, known=known).answer)

    def test_changes_nothing_of_a_validation(self):
        cluster = weft.config_path("clusters/node_8x_h100")
        self.same(lambda known: weft.validate(Validations.MEASURED, cluster, known=known).json)

    def test_is_that_of_the_environment(self):
        with mock.patch.dict(os.environ, {"WEFT_KNOWN": "known"}):
            weft.run(self.MODEL, tables=False)
            self.assertGreater(len(self.files()), 0)
            weft.run(self.MODEL, tables=False, known="none")
        self.assertFalse((self.folder / "none").exists())

    def test_that_cannot_be_made_is_told_first(self):
        self.write("known", "a file")
        with self.assertRaises(OSError):
            weft.run(self.MODEL, known="known")


class Help(InFolder):
    def test_explain_and_list_say_what_the_program_says(self):
        self.assertEqual(weft.explain("workload.batch"),
                         program("explain", "workload.batch").stdout)
        with self.assertRaisesRegex(ValueError, "did you mean workload.batch"):
            weft.explain("workload.btch")
        listed = program("list", "gpus").stdout
        for gpu in weft.list("gpus"):
            self.assertIn(f"  {gpu['name']} ", listed)
        self.assertIn("gpus", [thing["name"] for thing in weft.list()])
        with self.assertRaisesRegex(ValueError, "known: gpus, clusters"):
            weft.list("gpu")

    def test_version(self):
        self.assertEqual(f"weft {weft.version}", program("--version").stdout.strip())


class Threads(InFolder):
    LONG = {"workload.batch": 32768}

    def test_other_threads_go_on_meanwhile(self):
        counted = []
        run = threading.Thread(target=weft.run, args=(SCENARIO, self.LONG, "fused"))
        run.start()
        while run.is_alive():
            counted.append(time.sleep(0.001))
        self.assertGreater(len(counted), 5)

    def test_an_interrupt_stops_a_run(self):
        threading.Timer(0.1, signal.raise_signal, (signal.SIGINT,)).start()
        with self.assertRaises(KeyboardInterrupt):
            weft.run(SCENARIO, self.LONG)
            time.sleep(60)  # the run was short; the signal comes


class Reports(InFolder):
    def test_of_a_run_is_that_of_the_program(self):
        weft.run(SCENARIO, SMALL).report().save("ours.html")
        done = program("run", SCENARIO, "-q", "-o", "out", *set_arguments(SMALL))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(program("report", "out", "-o", "theirs.html").returncode, 0)
        ours, theirs = (self.charts(name) for name in ("ours.html", "theirs.html"))
        self.assertEqual(ours["specs"], theirs["specs"])  # Vega's
        self.assertEqual(ours["charts"], theirs["charts"])
        self.assertEqual(ours["tables"], theirs["tables"])

    def test_of_a_sweep_is_that_of_the_program(self):
        weft.sweep(SWEEP).report().save("ours.html")
        path = self.write("sweep.yaml", json.dumps(SWEEP))
        self.assertEqual(program("sweep", path, "-q", "-o", "out").returncode, 0)
        self.assertEqual(program("report", "out", "-o", "theirs.html").returncode, 0)
        self.assertEqual(self.charts("ours.html"), self.charts("theirs.html"))

    def test_a_notebook_shows_the_whole_page(self):
        report = weft.sweep(SWEEP).report()
        shown = re.search(r'srcdoc="(.*)"></iframe>$', report._repr_html_(), re.DOTALL)
        self.assertEqual(html.unescape(shown[1]), report.html)

    def test_without_tables_there_is_none(self):
        with self.assertRaisesRegex(ValueError, "tables=False"):
            weft.run(SCENARIO, SMALL, tables=False).report()

    def charts(self, name):
        text = (self.folder / name).read_text(encoding="utf-8")
        return json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', text,
                                    re.DOTALL)[1])


class Wheel(InFolder):
    """Unpacked as pip does it, below a prefix of its own, without the source tree's folders."""

    def test_has_what_it_needs(self):
        package = pathlib.Path(weft.__file__).parent
        done = subprocess.run(
            [sys.executable, ROOT / "python/make_wheel.py", package, weft.version, CONFIGS,
             ROOT / "sim/html/page", weft._weft.vega, "-o", "."],
            capture_output=True, text=True, check=True)
        wheel = pathlib.Path(done.stdout.strip())
        self.assertRegex(wheel.name, r"^weft-[\d.]+-cp3\d+-cp3\d+-linux_\w+\.whl$")
        packages = self.folder / "prefix/lib/python3/site-packages"
        shared = f"weft-{weft.version}.data/data/"
        with zipfile.ZipFile(wheel) as packed:
            listed = [line.rsplit(",", 2)[0] for line in
                      packed.read(f"weft-{weft.version}.dist-info/RECORD").decode().splitlines()]
            self.assertEqual(listed, packed.namelist())
            for name in packed.namelist():
                to = (self.folder / "prefix" / name[len(shared):] if name.startswith(shared)
                      else packages / name)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(packed.read(name))
        text = ("import weft, weft._configs as configs\n"
                "print(configs._own()[0], configs.installed('html')[0])\n"
                f"print(len(weft.run({SMALL_DICT!r}).report().html))")
        ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                             check=False, env={**os.environ, "PYTHONPATH": str(packages)})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        share = self.folder / "prefix/share/weft"
        self.assertEqual(ran.stdout.splitlines()[0], f"{share}/configs {share}/html")

    def test_is_the_same_again(self):
        package = pathlib.Path(weft.__file__).parent
        for folder in ("one", "two"):
            subprocess.run([sys.executable, ROOT / "python/make_wheel.py", package, weft.version,
                            CONFIGS, ROOT / "sim/html/page", weft._weft.vega, "-o", folder],
                           capture_output=True, check=True)
        one, two = (next((self.folder / name).iterdir()).read_bytes() for name in ("one", "two"))
        self.assertEqual(one, two)


class Notebook(InFolder):
    def test_every_cell_runs_and_shows_something(self):
        cells = json.loads((ROOT / "docs/fusing.ipynb").read_text(encoding="utf-8"))["cells"]
        names = {}
        shown = []
        for cell in cells:
            if cell["cell_type"] != "code":
                continue
            *before, last = ast.parse("".join(cell["source"])).body
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(ast.Module(before, []), "cell", "exec"), names)
                if isinstance(last, ast.Expr):
                    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
                else:
                    exec(compile(ast.Module([last], []), "cell", "exec"), names)
                    value = printed.getvalue()
            show = getattr(value, "_repr_html_", value.__repr__)
            shown.append(show())
            self.assertEqual(cell["outputs"], [])
        self.assertEqual(sum("<iframe" in text for text in shown), 2)  # the reports
        self.assertIn("workload.batc", shown[-1])
        # Its own operator: parts overlap, so some number of them is better than the whole.
        self.assertGreater(names["best_parts"], 1)


class Document(unittest.TestCase):
    def test_its_examples_run(self):
        self.addCleanup(os.chdir, pathlib.Path.cwd())
        os.chdir(ROOT)
        text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
        names = {}
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(blocks), 10)
        for block in blocks:
            if not has("pandas"):
                block = "".join(line for line in block.splitlines(True) if "frame(" not in line)
            with contextlib.redirect_stdout(io.StringIO()):
                exec(block, names)
        self.assertEqual(names["rows"].failed, [])
        self.assertEqual(names["problem"].path, "workload.dim")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
