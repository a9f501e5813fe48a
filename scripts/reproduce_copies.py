#!/usr/bin/python3
"""What a step of Llama 3.1 405B costs to simulate, on 1,024 to 98,304 GPUs.

    scripts/reproduce copies [-j 1] [-o DIR] [--all]

With run.repeats once, some copies of the model stand for all; with blocks all are simulated, which
takes too long beyond 4,096 GPUs unless --all asks for 16,384. Times are of one core.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

import reproduce_common as common

SCENARIO = common.ROOT / "configs/scenarios/models/llama3_405b_training.yaml"
NODES_OF_A_COPY = 16
COPIES = {"blocks": [8, 32, 128], "once": [8, 32, 128, 768]}


def run(repeats, copies):
    """A row of the table."""
    settings = {"cluster.nodes": NODES_OF_A_COPY * copies, "workload.parallel.data": copies,
                "workload.sequences": 16 * copies, "modes": "[bulk]", "run.repeats": repeats}
    command = [common.WEFT, "run", SCENARIO, "--json"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    start = time.monotonic()
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(result.stderr)
    summary = json.loads(result.stdout)
    return {"gpus": 8 * NODES_OF_A_COPY * copies, "repeats": repeats,
            "simulated": summary["engine"]["simulated_gpus"],
            "seconds": time.monotonic() - start,
            "gb": summary["engine"]["peak_rss_bytes"] / 1e9,
            "step_s": summary["modes"]["bulk"]["time_us"] / 1e6}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", "--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        default=common.ROOT / "results/reproduce_copies", help="folder for results")
    parser.add_argument("--all", action="store_true", help="also all copies on 16,384 GPUs")
    arguments = parser.parse_args()
    jobs = [(repeats, copies) for repeats, all_copies in COPIES.items() for copies in all_copies
            if repeats == "once" or copies < 128 or arguments.all]
    rows = common.in_parallel(lambda job: run(*job), jobs, arguments.jobs)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "copies.json").write_text(json.dumps(list(rows.values()), indent=1) + "\n",
                                                  encoding="utf-8")
    for row in rows.values():
        print(f"{row['gpus']:7,} GPUs  repeats: {row['repeats']:6}  {row['simulated']:6,} simulated"
              f"  {row['seconds']:6.1f} s  {row['gb']:5.2f} GB  a step of {row['step_s']:.6f} s")


if __name__ == "__main__":
    main()
