#!/usr/bin/env python3
"""Runs weft on measured embedding + all-to-all cases and prints predicted beside measured.

  scripts/first_look.py MEASURED.jsonl [--weft build/release/sim/weft] > table.md

MEASURED.jsonl has one JSON object a line: kind (emb.compute, emb.comm, emb.bulk, emb.fused,
emb.fused_local_first, emb.fused_low_occ), batch, tables, dim, pooling, rows_per_table, rows_per_wg,
us. Other lines are named as skipped. Nothing is fitted here: each case is the scenario file with
the case's own numbers set.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "configs/scenarios/embedding_a2a_4x_h200.yaml"
# The clock of the measurements starts 3.0 us before the first kernel can: one empty kernel takes
# 4.416 us, each further one 1.411 us (micro.empty_kernel).
CLOCK_US = 3.0
LOW_OCCUPANCY_WGS_PER_SM = 2


def simulate(weft, case, mode, extra=()):
    sets = {
        "workload.batch": case["batch"],
        "workload.tables_per_gpu": case["tables"],
        "workload.dim": case["dim"],
        "workload.pooling": case["pooling"],
        "workload.rows_per_table": case["rows_per_table"],
        "workload.rows_per_wg": case["rows_per_wg"],
    }
    command = [weft, "run", str(SCENARIO), "--json", "--mode", mode]
    for key, value in sets.items():
        command += ["--set", f"{key}={value}"]
    for item in extra:
        command += ["--set", item]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)["modes"][mode]


def predict(weft, case):
    """Microseconds that weft predicts for a measured line, or None where it has no such case."""
    kind = case["kind"]
    if kind == "emb.bulk":
        return simulate(weft, case, "bulk")["time_us"] + CLOCK_US
    if kind == "emb.compute":
        bulk = simulate(weft, case, "bulk")
        return bulk["computing_us"] + 1.411 + CLOCK_US
    if kind == "emb.comm":
        bulk = simulate(weft, case, "bulk")
        # Bulk is launch, pooling, launch, all-to-all; the all-to-all alone is launched once.
        return bulk["time_us"] - bulk["computing_us"] - 1.411 + CLOCK_US
    if kind == "emb.fused":
        return simulate(weft, case, "fused")["time_us"] + CLOCK_US
    if kind == "emb.fused_local_first":
        return simulate(weft, case, "fused", ["fused.order=local_first"])["time_us"] + CLOCK_US
    if kind == "emb.fused_low_occ":
        low = f"fused.max_wgs_per_cu={LOW_OCCUPANCY_WGS_PER_SM}"
        return simulate(weft, case, "fused", [low])["time_us"] + CLOCK_US
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measured", type=pathlib.Path)
    parser.add_argument("--weft", default=str(ROOT / "build/release/sim/weft"))
    options = parser.parse_args()

    errors = {}
    skipped = 0
    print("| case | batch | tables | dim | pooling | rows/WG | measured us | predicted us "
          "| error |")
    print("|---|---|---|---|---|---|---|---|---|")
    for line in options.measured.read_text().splitlines():
        case = json.loads(line)
        predicted = predict(options.weft, case) if case["kind"].startswith("emb.") else None
        if predicted is None:
            skipped += 1
            continue
        error = predicted / case["us"] - 1
        errors.setdefault(case["kind"], []).append(error)
        print(f"| {case['kind']} | {case['batch']} | {case['tables']} | {case['dim']} "
              f"| {case['pooling']} | {case['rows_per_wg']} | {case['us']:.1f} | {predicted:.1f} "
              f"| {error:+.1%} |")
    print("\n| kind | cases | median \\|error\\| | worst | bias (mean error) |")
    print("|---|---|---|---|---|")
    every = []
    for kind, found in errors.items():
        every += found
        print(summary(kind, found))
    print(summary("all", every))
    print(f"\n{skipped} lines of other kinds skipped.", file=sys.stderr)


def summary(kind, errors):
    absolute = [abs(e) for e in errors]
    return (f"| {kind} | {len(errors)} | {statistics.median(absolute):.1%} "
            f"| {max(errors, key=abs):+.1%} | {statistics.mean(errors):+.1%} |")


if __name__ == "__main__":
    main()
