#!/usr/bin/env python3
"""Checks what no compiler does: layers, banned words, lengths, goldens that nobody runs.

    scripts/tidy.py [ROOT]      ROOT is this repository unless given

Prints one line per mistake, `file:line: error: message`, and ends with status 1 if there are any.
scripts/tidy_test.py shows that each check can fail.
"""

import pathlib
import re
import sys

# What a folder of sim/ may include besides itself; sim/CMakeLists.txt links the same way.
LAYERS = {
    "core": [],
    "files": ["core"],
    "spec": ["core", "files"],
    "cache": ["spec", "core"],
    "plans": ["core"],
    "gpu_model": ["cache", "plans", "spec", "core"],
    "network": ["spec", "core"],
    "pipeline": ["core"],
    "scenario": ["spec", "core", "files", "gpu_model", "network", "cache", "pipeline",
                 "plans"],
    "cluster": ["scenario", "spec", "gpu_model", "network", "core"],
    "tasks": ["cluster", "scenario", "spec", "gpu_model", "network", "core"],
    "collectives": ["tasks", "cluster", "scenario", "spec", "gpu_model", "network", "plans",
                    "core"],
    "workloads": ["collectives", "tasks", "cluster", "scenario", "spec", "gpu_model", "network",
                  "cache", "plans", "core"],
    "engine": ["workloads", "collectives", "tasks", "cluster", "scenario", "spec", "gpu_model",
               "network", "files", "core"],
    "models": ["engine", "workloads", "collectives", "tasks", "cluster", "scenario", "pipeline",
               "spec", "gpu_model", "network", "core"],
    "traces": ["models", "workloads", "collectives", "tasks", "cluster", "scenario", "spec",
               "gpu_model", "network", "files", "core"],
    "report": ["models", "engine", "workloads", "collectives", "tasks", "cluster", "scenario",
               "spec", "gpu_model", "network", "cache", "files", "core"],
    "run": ["traces", "report", "models", "engine", "workloads", "collectives", "tasks", "cluster",
            "scenario", "spec", "gpu_model", "network", "cache", "files", "core"],
    "sweep": ["run", "report", "engine", "scenario", "spec", "files", "core"],
    "tune": ["sweep", "run", "report", "models", "engine", "scenario", "spec", "plans", "files",
             "core"],
    "html": ["report", "files", "core"],
    "serve": ["run", "report", "engine", "scenario", "spec", "files", "core"],
    "measured": ["models", "engine", "workloads", "collectives", "tasks", "cluster", "scenario",
                 "spec", "gpu_model", "network", "files", "core"],
    "app": ["measured", "tune", "sweep", "serve", "run", "html", "report", "traces", "models",
            "engine", "workloads", "collectives", "tasks", "cluster", "scenario", "spec",
            "gpu_model", "network", "cache", "files", "core"],
}
YAML_FOLDER = "spec"

# (pattern in code, what to write instead, folders of sim/ where it is allowed)
BANNED = [
    (r"std::random_device\b", "the seed comes from the scenario; use sim/core's Rng", []),
    (r"\b(std::rand\b|s?rand\s*\()", "use sim/core's Rng, the same everywhere", []),
    (r"std::(\w+_distribution|generate_canonical|default_random_engine)\b",
     "differs between standard libraries; use sim/core's Rng", []),
    (r"std::(shuffle|sample)\b|std::ranges::(shuffle|sample)\b",
     "differs between standard libraries; shuffle with sim/core's Rng", []),
    (r"std::(exit|quick_exit|_Exit)\b", "return a status from main, or a Diagnostic", []),
    (r"\b(system_clock|steady_clock|high_resolution_clock)\b",
     "only sim/app and sim/run may read a clock; models get `now`", ["app", "run"]),
    (r"\b(secure_)?getenv\b", "only sim/app may read the environment", ["app"]),
    (r"\bofstream\b|\bfopen\s*\(|\bfs::(rename|copy_file)\b|\bstd::rename\b",
     "only sim/files may write files: Staged, AppendFile", ["files"]),
    (r"\bshared_ptr\b", "use a value in an IdVector, or unique_ptr", []),
]
# Topologies are known to their own files and to this table; all others ask them questions.
TOPOLOGIES = "sim/network/topologies.cc"
TOPOLOGY_ROW = re.compile(r'\bTopologyRow\{"(\w+)"')
# Words of the table that are used for other things too: a statement, an algorithm of collectives.
# They are found where a scenario's text is made or read ("shape: ring").
ALSO_OTHER_WORDS = {"switch", "ring"}
# Reads another simulator's files, whose few topologies are fixed, into a scenario's text.
MAY_NAME_TOPOLOGIES = {"sim/scenario/astra_sim.cc"}
USING_NAMESPACE = re.compile(r"\busing\s+namespace\b")
LATER = re.compile(r"\b(FIXME|TODO)\b")
UNORDERED = re.compile(r"\bunordered_\w*(map|set)\b")
UNORDERED_BANNED_IN = ["engine", "network", "gpu_model", "workloads"]
NOT_ITERATED = "// not iterated"

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
STRING = re.compile(r'"(\\.|[^"\\])*"')
LINKS = re.compile(r"^weft_library\((\w+)\s+LINKS\s+([^)]*)\)")

# A path of one developer's machine. Scratch folders are a matter of course in tests and scripts.
HOME_PATH = re.compile(r"(?<![\w.])/(?:work|home|Users)/")
SCRATCH_PATH = re.compile(r"(?<![\w.])/(?:var/)?tmp/")
NO_SCRATCH_IN = ["sim", "docs", "configs"]

# A type at the left edge of a header, and its namespace.
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{")
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)(?!\w*;)")
ALIAS = re.compile(r"^(?:__extension__ )?using (\w+) =")
# A constant at the left edge of a source file, or in a function there.
CONSTANT = re.compile(r"^( *)(?:static )?constexpr [^=({]*?\b(k[A-Z]\w*)(?: =|\[|\{|$)")

COLUMNS_MAX = 100
LINES_MAX = 400
COLUMNS_CHECKED = {".cc", ".h", ".py"}
SKIPPED_FOLDERS = {".git", "build", "results", "__pycache__"}


class Tidy:
    def __init__(self, root):
        self.root = root
        self.errors = []
        self.types = {}  # where each was defined first, by namespace and name
        self.own = {}  # where each name of a source file was, by library, namespace and name
        self.local = []  # (library, namespace, name, path, line) of constants in functions

    def error(self, path, line, message):
        self.errors.append((path.relative_to(self.root).as_posix(), line, message))

    def check(self):
        for path in files_below(self.root):
            data = path.read_bytes()
            if b"\0" in data:
                continue
            lines = data.decode("utf-8", "replace").splitlines()
            parts = path.relative_to(self.root).parts
            self.check_machine_paths(path, parts, lines)
            if path.suffix in COLUMNS_CHECKED:
                self.check_columns(path, lines)
            if path.suffix == ".h" and "#pragma once" not in lines:
                self.error(path, 1, "a header needs #pragma once")
            if path.suffix == ".h" and parts[0] in ("sim", "tests"):
                self.check_types(path, lines)
            if parts[0] == "sim" and path.suffix == ".cc":
                self.check_own_names(path, parts[1], lines)
            if parts[0] == "sim" and path.suffix in (".cc", ".h"):
                self.check_source(path, parts, lines)
        self.check_shadows()
        self.check_topologies()
        self.check_links()
        self.check_goldens()
        return sorted(self.errors)

    def check_machine_paths(self, path, parts, lines):
        for number, line in enumerate(lines, 1):
            if HOME_PATH.search(line):
                self.error(path, number, "names a folder of one machine; write a relative path")
            elif parts[0] in NO_SCRATCH_IN and SCRATCH_PATH.search(line):
                self.error(path, number, "names a scratch folder; write a relative path")

    def check_columns(self, path, lines):
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS_MAX:
                self.error(path, number, f"{len(line)} columns; at most {COLUMNS_MAX}")

    def check_source(self, path, parts, lines):
        if len(parts) not in (3, 4) or parts[1] not in LAYERS:
            self.error(path, 1, "no library builds this; sources are sim/<folder>/<file> or one "
                                "subfolder deeper, with a folder of the table in scripts/tidy.py")
            return
        folder = parts[1]
        if len(lines) > LINES_MAX:
            self.error(path, LINES_MAX + 1, f"{len(lines)} lines; split it, {LINES_MAX} at most")
        before = ""
        for number, (line, code) in enumerate(zip(lines, without_comments(lines)), 1):
            include = INCLUDE.match(line) if code.strip() else None
            if include:
                self.check_include(path, number, folder, include[1], include[2])
            else:
                self.check_words(path, number, folder, code, NOT_ITERATED in before + line)
            if LATER.search(line):
                self.error(path, number, f"{LATER.search(line)[0]}: do it now, or open an issue")
            before = line

    def check_include(self, path, number, folder, quote, name):
        if name.startswith("yaml-cpp") and folder != YAML_FOLDER:
            self.error(path, number, f"only sim/{YAML_FOLDER} may include yaml-cpp")
        if name.startswith("sim/"):
            other = name.split("/")[1]
            if other != folder and other not in LAYERS[folder]:
                self.error(path, number, f"sim/{folder} must not include sim/{other}")
        elif quote == '"':
            self.error(path, number, f'write #include "sim/..." from the root, not "{name}"')

    def check_words(self, path, number, folder, code, not_iterated):
        for pattern, instead, allowed_in in BANNED:
            found = re.search(pattern, code)
            if found and folder not in allowed_in:
                self.error(path, number, f"{found[0].rstrip('( ')}: {instead}")
        if path.suffix == ".h" and USING_NAMESPACE.search(code):
            self.error(path, number, "using namespace in a header: write the names out")
        found = UNORDERED.search(code)
        if found and folder in UNORDERED_BANNED_IN and not not_iterated:
            self.error(path, number, f"{found[0]}: its order differs between machines; use "
                                     f"IdVector or std::map, or promise `{NOT_ITERATED}`")

    def check_types(self, path, lines):
        """Two types of one name in a program: the linker takes the functions of either for both."""
        namespace = ""
        for number, line in enumerate(lines, 1):
            if NAMESPACE.match(line):
                namespace = NAMESPACE.match(line)[1]
            found = TYPE.match(line)
            if not found:
                continue
            first = self.types.setdefault((namespace, found[1]), path)
            if first != path:
                self.error(path, number, f"{namespace}::{found[1]} is also a type of "
                                         f"{first.relative_to(self.root).as_posix()}; rename one")

    def check_own_names(self, path, library, lines):
        """Two source files of a library with one name of their own: some units compile both."""
        inside = ""
        for number, line in enumerate(lines, 1):
            inside = line if line.startswith("namespace ") else inside
            constant = CONSTANT.match(line)
            if constant and constant[1]:
                self.local.append((library, inside, constant[2], path, number))
                continue
            alias = ALIAS.match(line)
            found = TYPE.match(line) or alias
            if not found and not constant:
                continue
            name = found[1] if found else constant[2]
            first, same = self.own.setdefault((library, inside, name), (path, line))
            if first != path and not (alias and same == line):  # the same of the same is allowed
                self.error(path, number, f"{name} is also a name of "
                                         f"{first.relative_to(self.root).as_posix()}; rename one")

    def check_shadows(self):
        for library, inside, name, path, number in self.local:
            first, _ = self.own.get((library, inside, name), (path, None))
            if first != path:
                self.error(path, number, f"{name} hides that of "
                                         f"{first.relative_to(self.root).as_posix()} where a unit "
                                         "compiles both; rename one")

    def check_topologies(self):
        """Code outside sim/network that names one topology would have to know of the next one."""
        table = self.root / TOPOLOGIES
        if not table.is_file():
            return
        words = TOPOLOGY_ROW.findall(table.read_text(encoding="utf-8"))
        if not words:
            self.error(table, 1, "no row of topologies was found; fix TOPOLOGY_ROW in tidy.py")
        named = "|".join(words)
        plain = "|".join(word for word in words if word not in ALSO_OTHER_WORDS)
        found = re.compile(rf"\bshape: ({named})\b" + (rf"|\b({plain})\b" if plain else ""))
        for path in files_below(self.root / "sim"):
            name = path.relative_to(self.root).as_posix()
            if path.suffix not in (".cc", ".h") or name.startswith("sim/network/"):
                continue
            if name in MAY_NAME_TOPOLOGIES:
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                at = found.search(line.partition("//")[0])
                if at:
                    self.error(path, number, f"names the topology '{at[1] or at[2]}'; ask "
                                             "TopologySpec a question")

    def check_links(self):
        path = self.root / "sim" / "CMakeLists.txt"
        if not path.is_file():
            return
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            library = LINKS.match(line)
            if not library or library[1] not in LAYERS:
                continue
            for link in library[2].split():
                other = link.removeprefix("weft_")
                if other in LAYERS and other not in LAYERS[library[1]]:
                    self.error(path, number, f"weft_{library[1]} must not link weft_{other}")
                if link.startswith("yaml-cpp") and library[1] != YAML_FOLDER:
                    self.error(path, number, f"only weft_{YAML_FOLDER} may link yaml-cpp")

    def check_goldens(self):
        goldens = self.root / "tests" / "golden"
        for folder in sorted(goldens.iterdir()) if goldens.is_dir() else []:
            if folder.is_dir() and folder.name not in SKIPPED_FOLDERS:
                if not any(folder.rglob("expected.*")):
                    self.error(folder, 1, "no test runs this golden: it has no expected.* file")


def files_below(folder):
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name in SKIPPED_FOLDERS:
            continue
        if path.is_dir():
            yield from files_below(path)
        elif path.is_file():
            yield path


def without_comments(lines):
    """The lines with string literals emptied and comments blanked; raw strings are not known."""
    in_comment = False
    for line in lines:
        code = STRING.sub('""', line) if not in_comment else line
        kept = ""
        while code:
            if in_comment:
                _, end, code = code.partition("*/")
                in_comment = not end
                continue
            start = re.search(r"//|/\*", code)
            if not start:
                kept += code
                break
            kept += code[:start.start()]
            in_comment = start[0] == "/*"
            code = code[start.end():] if in_comment else ""
        yield kept


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]
    errors = Tidy(root.resolve()).check()
    for path, line, message in errors:
        print(f"{path}:{line}: error: {message}")
    print(f"tidy: {len(errors)} errors" if errors else "tidy: nothing to complain about")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
