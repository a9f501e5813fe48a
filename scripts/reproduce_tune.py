#!/usr/bin/python3
"""Whether `weft tune` finds the best: of spaces small enough to simulate all their points, and of
what was measured.

    scripts/reproduce tune [-j N] [-o DIR]

For each space of configs/reproduce/tune/: every point is simulated (some thousands each), then a
search may simulate 5 % of them. Prints how far what it found is from the best, and the seconds of
both. Then, of shapes measured in several ways (calibration/measurements), how much longer the way
that weft finds shortest was measured to take than the shortest one. About 20 minutes of one core; a
second time the points are taken from DIR.
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


def tune(space, folder, points, jobs):
    """tune.json and the seconds that it took."""
    start = time.monotonic()
    result = subprocess.run([common.WEFT, "tune", space, "--points", str(points), "-o", folder,
                             "-j", str(jobs), "--json", "-q"], capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        sys.exit(result.stderr)
    return json.loads(result.stdout), time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="points at a time")
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        default=common.ROOT / "results/reproduce_tune", help="folder for results")
    arguments = parser.parse_args()
    rows = []
    for space in sorted(SPACES.glob("*.yaml")):
        every, all_seconds = tune(space, arguments.output / space.stem / "every", 100_000,
                                  arguments.jobs)
        runnable = every["points"]["simulated"]
        few, seconds = tune(space, arguments.output / space.stem / "few",
                            max(1, int(SHARE * runnable)), arguments.jobs)
        best, found = every["best"]["value"], few["best"]["value"]
        rows.append({"space": space.stem, "points": runnable, "best_us": best,
                     "simulated": few["points"]["simulated"], "found_us": found,
                     "regret": found / best - 1,
                     "as_it_is_us": every.get("as_it_is", {}).get("value"),
                     "seconds_of_all": all_seconds, "seconds": seconds})
        row = rows[-1]
        as_it_is = (f"{row['as_it_is_us']:.1f}" if row["as_it_is_us"] else "it cannot be run")
        print(f"{space.stem:28} {runnable:6,} points, best {best:10.1f} us"
              f" (as it is {as_it_is});"
              f" of {row['simulated']:4} simulated {found:10.1f} us,"
              f" {100 * row['regret']:.2f} % more; {seconds:.0f} s instead of {all_seconds:.0f}",
              flush=True)
    (arguments.output / "tune.json").write_text(json.dumps(rows, indent=1) + "\n",
                                                encoding="utf-8")
    worst = max(row["regret"] for row in rows)
    print(f"worst: {100 * worst:.2f} % more than the best with {100 * SHARE:.0f} % of the points\n")
    tune_regret.print_regrets()


if __name__ == "__main__":
    main()
