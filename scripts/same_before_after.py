#!/usr/bin/env python3
"""Do two builds of weft give the same results on every shipped scenario? Exit status 0: yes, 1: no.

    scripts/same_before_after.py BEFORE AFTER [--seconds N] [--out FOLDER]

BEFORE and AFTER are programs, such as build/release/sim/weft of two commits; both read this
checkout's configs/scenarios. A scenario that one of them does not finish within N seconds
(default: 60) is listed and not compared. Results are compared as scripts/same_results.py does;
whoever changes results has to explain the differences.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

from same_results import compare

ROOT = pathlib.Path(__file__).resolve().parents[1]


def finishes(weft, scenario, folder, seconds):
    command = [weft, "run", str(scenario), "--quiet", "-o", str(folder)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return False
    if done.returncode != 0:
        print(f"{scenario.relative_to(ROOT)}: {weft} ended with {done.returncode}")
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("after", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    out = options.out or pathlib.Path(tempfile.mkdtemp(prefix="weft_same_"))
    same, different, left_out = 0, 0, []
    for scenario in sorted((ROOT / "configs/scenarios").rglob("*.yaml")):
        name = scenario.relative_to(ROOT / "configs/scenarios").with_suffix("")
        folders = [out / side / name for side in ("before", "after")]
        if not all(finishes(weft, scenario, folder, options.seconds)
                   for weft, folder in zip((options.before, options.after), folders)):
            left_out.append(str(name))
            continue
        problems = compare(*folders)
        same, different = same + (not problems), different + bool(problems)
        for problem in problems:
            print(f"{name}: {problem}")
    print(f"{same} the same, {different} different, {len(left_out)} not compared: "
          f"{' '.join(left_out) or '-'}; results are in {out}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
