#!/usr/bin/env python3
"""Shows that each check of scripts/tidy.py can fail, and that right trees pass."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TIDY = pathlib.Path(__file__).with_name("tidy.py")
HEADER = "#pragma once\n"


def tidy(files):
    """Writes the files {path: text} to an empty folder; returns what tidy.py says of it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, TIDY, folder], capture_output=True, text=True,
                              check=False)
    errors = done.stdout.splitlines()[:-1]
    assert done.returncode == (1 if errors else 0), done.stdout + done.stderr
    return errors


class TidyTest(unittest.TestCase):
    def finds(self, name, text, expected):
        """Exactly one error, and it begins with `expected` after the file's name."""
        errors = tidy({name: text})
        self.assertEqual(len(errors), 1, errors)
        self.assertTrue(errors[0].startswith(f"{name}:{expected}"), errors[0])

    def passes(self, name, text):
        self.assertEqual(tidy({name: text}), [])

    def test_layers(self):
        self.finds("sim/network/link.cc", '#include "sim/scenario/scenario.h"\n',
                   "1: error: sim/network must not include sim/scenario")
        self.finds("sim/core/ids.h", HEADER + '#include "sim/gpu_model/gpu_spec.h"\n',
                   "2: error: sim/core must not include sim/gpu_model")
        self.finds("sim/engine/run.cc", '#include "sim/fabric/x.h"\n',
                   "1: error: sim/engine must not include sim/fabric")
        self.passes("sim/network/link.cc", '#include "sim/core/ids.h"\n')
        self.passes("sim/network/link.cc", '#include "sim/network/link.h"\n')
        self.passes("sim/app/main.cc", '#include "sim/report/csv.h"\n')
        self.passes("sim/network/link.cc", '// #include "sim/scenario/scenario.h"\n')

    def test_topologies(self):
        table = {"sim/network/topologies.cc": 'TopologyRow{"switch", "m", a},\n'
                                              'TopologyRow{"star_tree", "m", b},\n'}
        for line, word in [('if (shape.word() == "star_tree") x();', "star_tree"),
                           ("if (kind == Kind::star_tree) x();", "star_tree"),
                           ('text = "{shape: switch}";', "switch")]:
            self.assertEqual(tidy({**table, "sim/app/a.cc": line + "\n"}),
                             [f"sim/app/a.cc:1: error: names the topology '{word}'; ask "
                              "TopologySpec a question"])
        for line in ["switch (kind) {", "x();  // of a star_tree", "star_trees();"]:
            self.assertEqual(tidy({**table, "sim/app/a.cc": line + "\n"}), [])
        self.assertEqual(tidy({**table, "sim/network/star_tree.cc": "void star_tree() {}\n"}), [])
        self.assertEqual(tidy({**table, "sim/scenario/astra_sim.cc": '"star_tree"\n'}), [])
        self.assertEqual(len(tidy({"sim/network/topologies.cc": "nothing\n"})), 1)

    def test_links(self):
        self.finds("sim/CMakeLists.txt", "weft_library(network LINKS weft_core weft_scenario)\n",
                   "1: error: weft_network must not link weft_scenario")
        self.finds("sim/CMakeLists.txt", "weft_library(engine LINKS weft_core yaml-cpp)\n",
                   "1: error: only weft_spec may link yaml-cpp")
        self.passes("sim/CMakeLists.txt", "weft_library(spec LINKS weft_core yaml-cpp)\n")

    def test_own_names(self):
        inside = "namespace weft {\nnamespace {\n"
        first = {"sim/core/a.cc": inside + "class Finder {};\nconstexpr int kLongest = 3;\n}\n}\n"}
        self.assertEqual(tidy({**first, "sim/core/b.cc": inside + "struct Finder {};\n}\n}\n"}),
                         ["sim/core/b.cc:3: error: Finder is also a name of sim/core/a.cc; rename "
                          "one"])
        self.assertEqual(tidy({**first, "sim/core/b.cc": inside + "constexpr int kLongest = 4;\n"}),
                         ["sim/core/b.cc:3: error: kLongest is also a name of sim/core/a.cc; "
                          "rename one"])
        local = inside + "int f() {\n  constexpr int kLongest = 4;\n"
        self.assertEqual(tidy({**first, "sim/core/b.cc": local}),
                         ["sim/core/b.cc:4: error: kLongest hides that of sim/core/a.cc where a "
                          "unit compiles both; rename one"])
        self.assertEqual(tidy({**first, "sim/files/b.cc": local}), [])
        json = {"sim/core/a.cc": inside + "using Json = nlohmann::json;\n"}
        self.assertEqual(tidy({**json, "sim/core/b.cc": json["sim/core/a.cc"]}), [])
        self.assertEqual(tidy({**json, "sim/core/b.cc": inside + "using Json = int;\n"}),
                         ["sim/core/b.cc:3: error: Json is also a name of sim/core/a.cc; rename "
                          "one"])
        other = "namespace weft {\nnamespace field {\nconstexpr int kLongest = 4;\n}\n}\n"
        self.assertEqual(tidy({**first, "sim/core/b.cc": other}), [])

    def test_types(self):
        inside = "namespace weft {\n"
        first = {"sim/core/a.h": HEADER + inside + "struct Plan {\n};\n}\n"}
        again = HEADER + inside + "class Plan {\n};\n}\n"
        self.assertEqual(tidy({**first, "sim/engine/b.h": again}),
                         ["sim/engine/b.h:3: error: weft::Plan is also a type of sim/core/a.h; "
                          "rename one"])
        elsewhere = again.replace("weft", "weft::cache")
        self.assertEqual(tidy({**first, "tests/unit/b.h": elsewhere}), [])
        declared = HEADER + inside + "struct Plan;\n}\n"
        self.assertEqual(tidy({**first, "sim/engine/b.h": declared}), [])

    def test_includes(self):
        self.finds("sim/engine/run.cc", "#include <yaml-cpp/yaml.h>\n",
                   "1: error: only sim/spec may include yaml-cpp")
        self.passes("sim/spec/load.cc", "#include <yaml-cpp/yaml.h>\n")
        self.finds("sim/engine/run.cc", '#include "run.h"\n', '1: error: write #include "sim/...')

    def test_files_nobody_builds(self):
        for name in ("sim/core/very/deep/x.cc", "sim/extra/x.cc", "sim/x.cc"):
            self.finds(name, "int x;\n", "1: error: no library builds this")

    def test_banned_words(self):
        for code, word in (
                ("std::random_device d;", "std::random_device"),
                ("int i = std::rand();", "std::rand"),
                ("srand(1);", "srand"),
                ("std::uniform_int_distribution<int> d;", "std::uniform_int_distribution"),
                ("std::normal_distribution<double> d;", "std::normal_distribution"),
                ("std::shuffle(a, b, c);", "std::shuffle"),
                ("std::exit(1);", "std::exit"),
                ("std::shared_ptr<int> p;", "shared_ptr")):
            for folder in ("core", "app"):
                with self.subTest(code, folder=folder):
                    self.finds(f"sim/{folder}/x.cc", f"\n{code}\n", f"2: error: {word}: ")
        for code in ("std::chrono::system_clock::now();", "std::chrono::steady_clock::now();",
                     'std::getenv("HOME");'):
            with self.subTest(code):
                self.assertEqual(len(tidy({"sim/engine/x.cc": code + "\n"})), 1)
                self.passes("sim/app/x.cc", code + "\n")

    def test_banned_words_in_comments_and_strings_pass(self):
        self.passes("sim/core/x.cc", "int a;  // not std::rand\n")
        self.passes("sim/core/x.cc", "/* std::exit,\n   std::rand */ int a;\n")
        self.passes("sim/core/x.cc", 'const char* a = "std::exit // \\" std::rand";\n')
        self.finds("sim/core/x.cc", "/* why */ std::exit(1);\n", "1: error: std::exit")
        self.finds("sim/core/x.cc", 'f("//"); std::exit(1);\n', "1: error: std::exit")

    def test_later(self):
        for word in ("FIXME", "TODO"):
            self.finds("sim/core/x.cc", f"int a;  // {word}: b\n", f"1: error: {word}: ")

    def test_using_namespace(self):
        self.finds("sim/core/x.h", HEADER + "using namespace std;\n", "2: error: using namespace")
        self.passes("sim/core/x.cc", "using namespace std::literals;\n")

    def test_unordered(self):
        declaration = "std::unordered_map<int, int> a;"
        for folder in ("engine", "network", "gpu_model", "workloads"):
            self.finds(f"sim/{folder}/x.cc", declaration + "\n", "1: error: unordered_map: ")
            self.passes(f"sim/{folder}/x.cc", declaration + "  // not iterated: looked up\n")
            self.passes(f"sim/{folder}/x.cc", "// not iterated\n" + declaration + "\n")
        self.finds("sim/engine/x.cc", "std::unordered_set<int> a;\n", "1: error: unordered_set: ")
        self.finds("sim/engine/x.cc", "// not iterated\n\n" + declaration + "\n", "3: error: ")
        self.passes("sim/engine/x.cc", "#include <unordered_map>\n")
        self.passes("sim/report/x.cc", declaration + "\n")

    def test_lengths(self):
        self.finds("sim/core/x.cc", "// " + "x" * 98 + "\n", "1: error: 101 columns")
        self.finds("tests/unit/x_test.cc", "\n// " + "x" * 98 + "\n", "2: error: 101 columns")
        self.passes("sim/core/x.cc", "// " + "x" * 97 + "\n")
        self.passes("sim/core/x.cc", "// " + "µ" * 97 + "\n")
        self.finds("sim/core/x.cc", "int a;\n" * 401, "401: error: 401 lines")
        self.passes("sim/core/x.cc", "int a;\n" * 400)
        self.passes("tests/unit/x_test.cc", "int a;\n" * 401)

    def test_pragma_once(self):
        self.finds("sim/core/x.h", "int a;\n", "1: error: a header needs #pragma once")
        self.finds("tests/unit/x.h", "int a;\n", "1: error: a header needs #pragma once")

    def test_goldens(self):
        name = "tests/golden/two_gpus"
        self.assertEqual(tidy({f"{name}/scenario.yaml": "a: 1\n"}),
                         [f"{name}:1: error: no test runs this golden: it has no expected.* file"])
        self.passes(f"{name}/expected.txt", "1 us\n")
        self.passes("tests/golden/README.md", "how\n")

    def test_machine_paths(self):
        home, scratch = "/" + "work/weft", "/" + "tmp/weft"
        for name in ("sim/core/x.cc", "docs/model.md", "configs/gpus/x.yaml"):
            self.finds(name, f"// in {home}\n", "1: error: names a folder of one machine")
            self.finds(name, f"// in {scratch}\n", "1: error: names a scratch folder")
        self.finds("scripts/x", f"cd {home}\n", "1: error: names a folder of one machine")
        self.passes("scripts/x", f"cd {scratch}\n")
        self.passes("docs/model.md", "https://example.org/" + "work/x and sim/workloads/x\n")
        self.passes("build/x", f"cd {home}\n")

    def test_command_line_of_the_repository(self):
        done = subprocess.run([sys.executable, TIDY], capture_output=True, text=True, check=False)
        self.assertIn("tidy: ", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
