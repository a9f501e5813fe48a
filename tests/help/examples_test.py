#!/usr/bin/python3
"""The examples of every `weft ... --help` are run, as they stand.

    tests/help/examples_test.py WEFT [sanitized]
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Not run here, and why.
LEFT_OUT = {
    "weft calibrate": "a minute",
    "weft cache --machine": "all applications under all policies: half a minute",
    "weft import pytorch": "needs a recording",
    "weft sweep configs/sweeps/link_speed.yaml -j": "minutes",
    "weft sweep my_sweep.yaml": "one of four machines",
    "weft merge": "needs all four",
    "weft serve": "until Ctrl-C",
    "weft tune configs/tune/layout_llama3_70b.yaml": "minutes",
}
LEFT_OUT_SANITIZED = {  # minutes then
    "weft validate": "validation tests do the same",
    "weft sensitivity": "its own tests do the same with less",
    "weft tune configs/scenarios/models/llama3_70b_pairs.yaml": "so do its own tests",
}


def printed(weft, *arguments):
    run = subprocess.run([weft, *arguments], check=True, text=True, stdout=subprocess.PIPE)
    return run.stdout


def commands_of(text):
    return re.findall(r"^  (\w+) ", text.split("\ncommands:\n")[1].split("\n\n")[0], re.M)


def examples_in(text):
    behind = text.split("\nexample", 1)
    if len(behind) == 1:
        return []
    joined = behind[1].replace(" \\\n", " ")
    return re.findall(r"^  ((?:source <\()?weft .*)$", joined, re.M)


def main():
    weft = pathlib.Path(sys.argv[1]).resolve()
    left_out = [*LEFT_OUT, *(LEFT_OUT_SANITIZED if "sanitized" in sys.argv[2:] else [])]
    helps = {"": printed(weft, "--help")}
    for command in commands_of(helps[""]):
        helps[command] = printed(weft, command, "--help")
    failed = [f"weft {command}: no example" for command, text in helps.items()
              if not examples_in(text)]
    failed += [f"weft {command}: wider than 100 columns: {line}" for command, text in helps.items()
               for line in text.splitlines() if len(line) > 100]
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        for name in ("configs", "calibration"):
            (here / name).symlink_to(ROOT / name)
        (here / "weft").symlink_to(weft)
        # In the order of the commands, but what is exported first: an import reads it.
        for command in sorted(helps, key=lambda name: name == "import"):
            for example in examples_in(helps[command]):
                if any(example.startswith(start) for start in left_out):
                    continue
                run = subprocess.run(["bash", "-c", 'PATH="$PWD:$PATH"; ' + example], cwd=here,
                                     text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                print(f"{run.returncode}: {example}")
                if run.returncode != 0:
                    failed.append(f"{example}: ended with {run.returncode}\n{run.stdout}")
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
