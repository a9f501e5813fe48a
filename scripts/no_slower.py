#!/usr/bin/env python3
"""Fails if a scenario got slower: compares what two versions of weft, or of scenarios, say.

    weft run a.yaml --quiet --json >before/a.json     # of each scenario, and the same for after/
    scripts/no_slower.py before after --max-percent 2

BEFORE and AFTER are summaries (weft run --json, or the summary.json of weft run -o) or folders of
them, whose files NAME.json are compared by name. What is compared is the time of each mode. A mode
or a file that only one side has is told and is no failure. exit status: 0 nothing is slower by more
than --max-percent; 1 something is, or a file is missing or broken.
"""

import argparse
import json
import pathlib
import sys


class Mistakes(Exception):
    """What the user can fix, all of it."""


def times_in(path, problems):
    """Microseconds by mode."""
    try:
        modes = json.loads(path.read_text(encoding="utf-8"))["modes"]
        return {mode: float(values["time_us"]) for mode, values in modes.items()}
    except OSError as error:
        problems.append(f"{path}: {error.strerror}")
    except json.JSONDecodeError as error:
        problems.append(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}")
    except (KeyError, TypeError, ValueError, AttributeError):
        problems.append(f"{path}: no summary of weft run --json: modes.<mode>.time_us is missing")
    return {}


def summaries(path, problems):
    """Files by the names that both sides have in common; a file alone has none."""
    if not path.is_dir():
        return {"": path}
    found = {file.relative_to(path).with_suffix("").as_posix(): file
             for file in sorted(path.rglob("*.json"))}
    if not found:
        problems.append(f"{path}: holds no NAME.json")
    return found


class Row:
    def __init__(self, name, mode, before, after):
        self.name, self.mode, self.before, self.after = name, mode, before, after

    @property
    def percent(self):
        if self.before is None or self.after is None:
            return None
        return 100 * (self.after / self.before - 1) if self.before > 0 else 0.0

    def cells(self, most):
        words = {True: "SLOWER", False: ""}
        change = "-" if self.percent is None else f"{self.percent:+.2f} %"
        return [self.name, self.mode, time_text(self.before), time_text(self.after), change,
                self.said() or words[self.is_slower(most)]]

    def said(self):
        if self.before is None:
            return "new"
        return "gone" if self.after is None else ""

    def is_slower(self, most):
        return self.percent is not None and self.percent > most


def time_text(us):
    if us is None:
        return "-"
    unit, by = next(((unit, by) for unit, by in (("s", 1e6), ("ms", 1e3)) if us >= by), ("us", 1))
    return f"{us / by:.3f} {unit}"


def compare(before, after):
    """A row for each scenario and mode; or Mistakes."""
    problems = []
    sides = [summaries(path, problems) for path in (before, after)]
    if before.is_dir() != after.is_dir():
        problems.append(f"{before} and {after}: one is a folder, the other is not")
    rows = []
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        old, new = ({} if name not in side else times_in(side[name], problems) for side in sides)
        rows += [Row(name or after.stem, mode, old.get(mode), new.get(mode))
                 for mode in dict.fromkeys([*old, *new])]
    if problems:
        raise Mistakes("\n".join(problems))
    return rows


HEAD = ["scenario", "mode", "before", "after", "change", ""]


def plain(rows, most):
    table = [HEAD, *(row.cells(most) for row in rows)]
    widths = [max(len(cells[i]) for cells in table) for i in range(len(HEAD))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()
                     for cells in table)


def markdown(rows, most):
    table = [HEAD, ["---"] * len(HEAD), *(row.cells(most) for row in rows)]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
                     for cells in table) + "\n"


def percentage(text):
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a percentage from 0 up")
    return value


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path, help="summary, or folder of summaries")
    parser.add_argument("after", type=pathlib.Path, help="the same, of what is checked")
    parser.add_argument("--max-percent", type=percentage, default=0.0, metavar="PERCENT",
                        help="how much slower a mode may be; default: 0")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE",
                        help="append the table to this file, for example $GITHUB_STEP_SUMMARY")
    return parser.parse_args(arguments)


def main(arguments):
    options = options_of(arguments)
    try:
        rows = compare(options.before, options.after)
        print(plain(rows, options.max_percent))
        if options.markdown:
            with open(options.markdown, "a", encoding="utf-8") as file:
                file.write(markdown(rows, options.max_percent))
    except Mistakes as mistakes:
        for line in str(mistakes).splitlines():
            print(f"no_slower.py: error: {line}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"no_slower.py: error: {options.markdown}: {error.strerror}", file=sys.stderr)
        return 1
    slower = sum(row.is_slower(options.max_percent) for row in rows)
    if slower:
        print(f"no_slower.py: {slower} of {len(rows)} times grew by more than "
              f"{options.max_percent:g} %", file=sys.stderr)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
