#!/usr/bin/env python3
"""Runs weft on measured cases of fused operators and prints predicted beside measured.

  scripts/first_look.py MEASURED.jsonl [--weft build/release/sim/weft] > table.md

MEASURED.jsonl has one JSON object a line: `kind`, the case's numbers, `us`.

  emb.*    compute comm bulk fused fused_local_first fused_low_occ; batch, tables, dim, pooling,
           rows_per_table, rows_per_wg
  gemm.*   compute comm bulk fused; m, n, k
  gemv.*   compute comm bulk fused; m, k_local, rows_per_wg

Other lines are named as skipped. Nothing is fitted here: each case is the scenario file of its
operator with the case's own numbers set.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "configs/scenarios"
# The clock of the measurements starts 3.0 us before the first kernel can: one empty kernel takes
# 4.416 us, each further one 1.411 us (micro.empty_kernel).
CLOCK_US = 3.0
LAUNCH_US = 1.411
LOW_OCCUPANCY_WGS_PER_SM = 2
FITS_IN_L2 = 50e6  # B of weights, of 60 MB


# Of each operator: its scenario, the columns that tell its cases apart, and the keys they set.
OPERATORS = {
    "emb": ("embedding_a2a_4x_h200", {
        "batch": "batch", "tables": "tables_per_gpu", "dim": "dim", "pooling": "pooling",
        "rows_per_table": "rows_per_table", "rows_per_wg": "rows_per_wg"}),
    "gemm": ("gemm_a2a_4x_h200", {"m": "gemm.m", "n": "gemm.n", "k": "gemm.k"}),
    "gemv": ("gemv_ar_4x_h200", {
        "m": "gemv.m", "k_local": "gemv.k", "rows_per_wg": "gemv.rows_per_wg"}),
}
FUSED = {
    "fused": [],
    "fused_local_first": ["fused.order=local_first"],
    "fused_low_occ": [f"fused.max_wgs_per_cu={LOW_OCCUPANCY_WGS_PER_SM}"],
}


def simulate(weft, case, mode, extra=()):
    operator = case["kind"].split(".")[0]
    scenario, keys = OPERATORS[operator]
    sets = [f"workload.{key}={case[column]}" for column, key in keys.items()] + list(extra)
    if operator == "gemv":
        in_l2 = case["m"] * case["k_local"] * 2 < FITS_IN_L2
        sets.append(f"workload.gemv.weights={'in_l2' if in_l2 else 'in_hbm'}")
    command = [weft, "run", str(SCENARIOS / f"{scenario}.yaml"), "--json", "--mode", mode]
    for item in sets:
        command += ["--set", item]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{' '.join(command)}\n{done.stderr}", file=sys.stderr)
        return None
    return json.loads(done.stdout)["modes"][mode]


def predict(weft, case):
    """Microseconds that weft predicts for a measured line, or None where it has no such case."""
    operator, _, kind = case["kind"].partition(".")
    if operator not in OPERATORS:
        return None
    if kind in FUSED:
        fused = simulate(weft, case, "fused", FUSED[kind])
        return fused and fused["time_us"] + CLOCK_US
    if kind not in ("bulk", "compute", "comm"):
        return None
    bulk = simulate(weft, case, "bulk")
    if bulk is None:
        return None
    if kind == "bulk":
        return bulk["time_us"] + CLOCK_US
    if kind == "compute":
        return bulk["computing_us"] + LAUNCH_US + CLOCK_US
    # Bulk is launch, kernel, launch, collective; the collective alone is launched once.
    return bulk["time_us"] - bulk["computing_us"] - LAUNCH_US + CLOCK_US


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measured", type=pathlib.Path)
    parser.add_argument("--weft", default=str(ROOT / "build/release/sim/weft"))
    options = parser.parse_args()

    errors = {}
    ratios = {}  # of each case: its measured and predicted times of bulk and fused
    skipped = 0
    columns = None
    for line in options.measured.read_text().splitlines():
        case = json.loads(line)
        predicted = predict(options.weft, case)
        if predicted is None:
            skipped += 1
            continue
        of_case = [c for c in OPERATORS[case["kind"].split(".")[0]][1] if c != "rows_per_table"]
        if of_case != columns:
            columns = of_case
            names = "".join(f" {c} |" for c in columns)
            print(f"\n| case |{names} measured us | predicted us | error |")
            print("|---" * (len(columns) + 4) + "|")
        error = predicted / case["us"] - 1
        errors.setdefault(case["kind"], []).append(error)
        numbers = "".join(f" {case[c]} |" for c in columns)
        operator, _, kind = case["kind"].partition(".")
        if kind in ("bulk", "fused"):
            key = (operator, *(case[c] for c in OPERATORS[operator][1]))
            ratios.setdefault(key, {})[kind] = (case["us"], predicted)
        print(f"| {case['kind']} |{numbers} {case['us']:.1f} | {predicted:.1f} | {error:+.1%} |")
    print("\n| kind | cases | median \\|error\\| | 90 % within | worst | bias (mean error) |")
    print("|---|---|---|---|---|---|")
    every = []
    for kind, found in errors.items():
        every += found
        print(summary(kind, found))
    print(summary("all", every))
    print_ratios(ratios)
    print(f"\n{skipped} lines skipped.", file=sys.stderr)


def ninety(absolute):
    """The least value that nine of ten do not exceed."""
    return sorted(absolute)[-(-9 * len(absolute) // 10) - 1]


def print_ratios(ratios):
    print("\n| fused / bulk | cases | median difference | 90 % within | worst | sign wrong |")
    print("|---|---|---|---|---|---|")
    for operator in OPERATORS:
        pairs = [(found["fused"][0] / found["bulk"][0], found["fused"][1] / found["bulk"][1])
                 for key, found in ratios.items() if key[0] == operator and len(found) == 2]
        if not pairs:
            continue
        apart = [abs(predicted - measured) for measured, predicted in pairs]
        wrong = sum((predicted < 1) != (measured < 1) for measured, predicted in pairs)
        print(f"| {operator} | {len(pairs)} | {statistics.median(apart):.3f} "
              f"| {ninety(apart):.3f} | {max(apart):.3f} | {wrong} |")


def summary(kind, errors):
    absolute = [abs(e) for e in errors]
    return (f"| {kind} | {len(errors)} | {statistics.median(absolute):.1%} "
            f"| {ninety(absolute):.1%} "
            f"| {max(errors, key=abs):+.1%} | {statistics.mean(errors):+.1%} |")


if __name__ == "__main__":
    main()
