#!/usr/bin/python3
"""A step of training DeepSeek-V3 on 2,048 H800 as published (arXiv:2412.19437), and what its
schedule and its exchange of tokens bring.

    scripts/reproduce deepseek [-j 1] [-o DIR]

Published are 180,000 GPU hours for 10^12 tokens. Each of the four runs takes some five minutes of
one core and 4 GB.
"""
import argparse
import json
import pathlib

import reproduce_common as common

SCENARIO = "scenarios/models/deepseek_v3_2048_h800"
TOKENS = 15360 * 4096
PUBLISHED_S = 180_000 * 3600 / 1e12 / 2048 * TOKENS
EVEN = {"workload.parallel.last_layers": 1}
CASES = {
    "dualpipe_v, tokens once to each node": {},
    "the same, one layer beside both heads": EVEN,
    "zb_v": {**EVEN, "workload.parallel.schedule": "zb_v"},
    "dualpipe_v, the library's all-to-all": {
        **EVEN, "workload.moe.exchange": "library", "workload.moe.exchange_cus": "~"},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", "--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        default=common.ROOT / "results/reproduce_deepseek",
                        help="folder for results")
    arguments = parser.parse_args()
    runs = common.Runner(arguments.jobs).all(
        [(SCENARIO, settings, ["bulk"]) for settings in CASES.values()])
    steps = {case: run["modes"]["bulk"]["time_us"] / 1e6 for case, run in zip(CASES, runs)}
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "steps.json").write_text(json.dumps(steps, indent=1) + "\n",
                                                 encoding="utf-8")
    print(f"\npublished: {PUBLISHED_S:.1f} s")
    for case, seconds in steps.items():
        print(f"{seconds:6.1f} s  {100 * (seconds / PUBLISHED_S - 1):+5.1f} %  {case}")


if __name__ == "__main__":
    main()
