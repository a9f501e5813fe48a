#!/usr/bin/env python3
"""Measures operators of PyTorch on one GPU; JSON lines out (README.md)."""
import argparse
import importlib
import os
import random
import sys
import time
import traceback

FAMILIES = ("gemm", "attention", "flash_blocks", "low_precision", "few_rows", "embedding",
            "gathers", "interference", "fused", "gradients", "sums", "short_k", "sustained",
            "row_copies", "casts", "rereads")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(FAMILIES), help="families, by commas")
    parser.add_argument("--quick", action="store_true", help="a few shapes of everything")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seed", type=int, default=0, help="of the shapes")
    parser.add_argument("--seconds", type=float, default=1e9, help="for each family")
    parser.add_argument("-o", "--out", required=True, help="folder; one file of lines per family")
    options = parser.parse_args()
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import torch
    from timing import Bench
    failed = False
    os.makedirs(options.out, exist_ok=True)
    for family in options.only.split(","):
        begin = time.monotonic()
        random.seed(1)
        torch.manual_seed(1)
        bench = Bench(os.path.join(options.out, f"{family}.jsonl"), options.quick, options.repeats,
                      options.seed)
        bench.deadline = begin + options.seconds
        try:
            importlib.import_module(family).measure(bench)
        except Exception:
            failed = True
            traceback.print_exc()
        left_out = {kind: len(texts) for kind, texts in bench.failed.items()}
        print(f"{family}: {time.monotonic() - begin:.1f} s, left out: {left_out}", flush=True)
        del bench
        torch.cuda.empty_cache()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
