#!/usr/bin/env python3
"""Time over bulk's time, by operator and way, of a file that measure.py wrote: README.md's tables.

    python3 calibration/torch/table.py calibration/measurements/h100-x2-torch-2.jsonl
"""
import json
import statistics
import sys

OPERATORS = ("emb", "gemv", "gemm", "gemm_rs", "ag_gemm")
NO_SHAPE = ("kind", "by", "us", "us_min", "us_max", "runs", "error", "tile", "rows_at_once")


def read(path):
    """(operator, shape) -> way -> microseconds."""
    shapes = {}
    with open(path) as lines:
        for line in map(json.loads, lines):
            if line["kind"] in OPERATORS:
                shape = tuple((k, v) for k, v in line.items() if k not in NO_SHAPE)
                shapes.setdefault((line["kind"], shape), {})[line["by"]] = line["us"]
    return shapes


def cell(ratios):
    if not ratios:
        return ""
    below = sum(r < 1 for r in ratios)
    return (f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), "
            f"{below} of {len(ratios)}")


def row(operator, shapes):
    ways = [by for (kind, _), by in shapes.items() if kind == operator and "bulk" in by]

    def best_of(*names):
        return cell([min(by[n] for n in names if n in by) / by["bulk"] for by in ways
                     if any(n in by for n in names)])
    return [f"`{operator}`", str(len(ways)), best_of("chunked_2", "chunked_4"), best_of("pytorch"),
            best_of("hip"), best_of("triton"), best_of("triton_engine"),
            best_of("hip", "triton"), best_of("compute")]


def main():
    shapes = read(sys.argv[1])
    print("| operator | shapes | chunked (better) | PyTorch | HIP | Triton | copy engines + Triton "
          "| better of HIP and Triton | kernel alone |\n" + "|---" * 9 + "|")
    for operator in OPERATORS:
        print("| " + " | ".join(row(operator, shapes)) + " |")


if __name__ == "__main__":
    main()
