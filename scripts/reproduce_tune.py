#!/usr/bin/python3
"""Whether `weft tune` finds the best: of spaces small enough to simulate all their points, and of
what was measured.

    scripts/reproduce tune [-j N] [-o DIR]

For each space of configs/reproduce/tune/, and that of `weft tune --pairs` of a model: every point
is simulated (some thousands each), then a search may simulate 5 % of them. Prints how far what it
found is from the best, and the seconds of both. Then, of shapes measured in several ways
(calibration/measurements), how much longer the way that weft finds shortest was measured to take
than the shortest one. About 20 minutes of one core; a second time the points are taken from DIR.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import reproduce_common as common
import tune_regret

SPACES = common.ROOT / "configs/reproduce/tune"
SHARE = 0.05


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode not in (0, 1):  # 1: some points cannot be run
        sys.exit(result.stderr)
    return result.stdout


def times_of_all(space, folder, jobs):
    """The times of all points that can be run, in us."""
    run(common.WEFT, "sweep", space, "-o", folder, "-j", str(jobs), "-q")
    rows = [json.loads(line) for line in open(folder / "results.jsonl", encoding="utf-8")]
    return [min(mode["time_us"] for mode in row["summary"]["modes"].values())
            for row in rows if row["status"] == "ok"]


def first_ways(text, most):
    """The space's text with the first values of each axis: those are its best."""
    lines, values = [], 0
    for line in text.splitlines():
        if line.startswith("    values:"):
            values = 0
        if line.startswith("      - "):
            values += 1
            if values > most:
                continue
        if line.startswith("    labels: ["):
            labels = line.removeprefix("    labels: [").removesuffix("]").split(", ")
            line = f"    labels: [{', '.join(labels[:most])}]"
        lines.append(line)
    return "\n".join(lines) + "\n"


def pairs_space(output):
    """Ways of single pairs of eight layers of Llama 3 70B, without rules of its own: the ten best
    of each of four, 10,000 points."""
    folder = output / "llama3_70b_pairs"
    run(common.WEFT, "tune", common.ROOT / "configs/scenarios/models/llama3_70b_pairs.yaml",
        "--pairs", "--set", "workload.pairs=~", "--set", "workload.collectives=~", "--points",
        "1", "-o", folder / "asked", "-q")
    space = folder / "asked/ten_best.yaml"
    text = (folder / "asked/space.yaml").read_text(encoding="utf-8")
    space.write_text(first_ways(text, 10), encoding="utf-8")
    return folder.name, space


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="points at a time")
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        default=common.ROOT / "results/reproduce_tune", help="folder for results")
    arguments = parser.parse_args()
    rows = []
    spaces = [(space.stem, space) for space in sorted(SPACES.glob("*.yaml"))]
    for name, space in [*spaces, pairs_space(arguments.output)]:
        start = time.monotonic()
        every = times_of_all(space, arguments.output / name / "every", arguments.jobs)
        swept = time.monotonic()
        few = json.loads(run(common.WEFT, "tune", space, "--points",
                             str(max(1, int(SHARE * len(every)))), "-o",
                             arguments.output / name / "few", "-j", str(arguments.jobs),
                             "--json", "-q"))
        best, found = min(every), few["best"]["value"]
        row = {"space": name, "points": len(every), "best_us": best,
               "simulated": few["points"]["simulated"], "found_us": found,
               "as_it_is_us": (few.get("as_it_is") or {}).get("value", float("nan")),
               "regret": found / best - 1, "seconds_of_all": swept - start,
               "seconds": time.monotonic() - swept}
        rows.append(row)
        print(f"{name:28} {len(every):6,} points, best {best:10.1f} us; of"
              f" {row['simulated']:4} simulated {found:10.1f} us, {100 * row['regret']:.2f} % more;"
              f" as it is {row['as_it_is_us']:.1f} us;"
              f" {row['seconds']:.0f} s instead of {row['seconds_of_all']:.0f}", flush=True)
    (arguments.output / "tune.json").write_text(json.dumps(rows, indent=1) + "\n",
                                                encoding="utf-8")
    worst = max(row["regret"] for row in rows)
    print(f"worst: {100 * worst:.2f} % more than the best with {100 * SHARE:.0f} % of the points\n")
    tune_regret.print_regrets()


if __name__ == "__main__":
    main()
