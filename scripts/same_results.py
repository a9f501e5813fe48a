#!/usr/bin/env python3
"""Are the results in two folders the same? Exit status 0: yes, 1: no.

    scripts/same_results.py results/from_gcc results/from_clang

CSV files must be equal byte by byte. summary.json must be equal number by number, as text, except
what depends on the machine and not on the simulation (MACHINE_KEYS).
"""

import json
import pathlib
import sys

CSV_FILES = ("operators.csv", "links.csv", "link_classes.csv", "over_time.csv")
SUMMARY = "summary.json"
MACHINE_KEYS = ("wall_s", "events_per_s", "peak_rss_bytes")  # of the object `engine`


def first_different_line(a: bytes, b: bytes) -> str:
    lines_a, lines_b = a.split(b"\n"), b.split(b"\n")
    for number in range(max(len(lines_a), len(lines_b))):
        line_a = lines_a[number] if number < len(lines_a) else None
        line_b = lines_b[number] if number < len(lines_b) else None
        if line_a != line_b:
            shown = ["(no such line)" if x is None else x.decode("utf-8", "replace")
                     for x in (line_a, line_b)]
            return f"line {number + 1}:\n  {shown[0]}\n  {shown[1]}"
    return "no line"


def load_summary(path: pathlib.Path):
    # Numbers stay text: 1.0 and 1.00 are different results of different formatting.
    summary = json.loads(path.read_text(encoding="utf-8"), parse_float=str, parse_int=str)
    for key in MACHINE_KEYS:
        if isinstance(summary.get("engine"), dict):
            summary["engine"].pop(key, None)
    return summary


def differences(a, b, where: str):
    """The places where two JSON values differ, as text."""
    if isinstance(a, dict) and isinstance(b, dict):
        if list(a) != list(b) and set(a) == set(b):
            yield f"{where}: keys in a different order"
        for key in list(a) + [key for key in b if key not in a]:
            inner = f"{where}.{key}" if where else key
            if key not in a or key not in b:
                yield f"{inner}: only in the {'second' if key not in a else 'first'}"
            else:
                yield from differences(a[key], b[key], inner)
    elif isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            yield f"{where}: {len(a)} against {len(b)} elements"
        for number, (item_a, item_b) in enumerate(zip(a, b)):
            yield from differences(item_a, item_b, f"{where}[{number}]")
    elif type(a) is not type(b) or a != b:
        yield f"{where}: {a} against {b}"


def compare(first: pathlib.Path, second: pathlib.Path) -> list[str]:
    found = []
    for name in (*CSV_FILES, SUMMARY):
        absent = [str(folder / name) for folder in (first, second) if not (folder / name).is_file()]
        if absent:
            found += [f"{path}: no such file" for path in absent]
        elif name == SUMMARY:
            found += [f"{name}: {text}" for text in
                      differences(load_summary(first / name), load_summary(second / name), "")]
        else:
            a, b = (first / name).read_bytes(), (second / name).read_bytes()
            if a != b:
                found.append(f"{name}: {first_different_line(a, b)}")
    return found


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: scripts/same_results.py FOLDER FOLDER", file=sys.stderr)
        return 2
    first, second = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    found = compare(first, second)
    for text in found:
        print(f"error: {text}")
    print(f"{first} and {second}: {'differ' if found else 'the same results'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
