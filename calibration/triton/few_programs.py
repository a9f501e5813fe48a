#!/usr/bin/env python3
"""Times tiles of a GEMM by how many programs make them: what is slower where all SMs multiply.

    python3 calibration/triton/few_programs.py -o OUT.jsonl      # one GPU, half a minute

Each of `programs` programs, one on an SM, makes `rounds` tiles of bm x bn x k of random numbers as
weft_triton's kernels do. `us` is the median of RUNS runs, each after a pause.
"""
import argparse
import json
import statistics

import torch
import triton
import triton.language as tl

from weft_triton.operators import LARGE, SMALL, as_operand, units
from weft_triton.tiles import multiply, offsets, place

PAUSE_CYCLES, WARM_UP, RUNS = 1_000_000, 4, 15
DOWN, ACROSS = 16, 16  # tiles


@triton.jit
def tiles_alone(a, b, c, rounds, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                GROUP: tl.constexpr, DESCRIPTORS: tl.constexpr):
    for turn in range(0, rounds):
        tile = (tl.program_id(0) + turn * tl.num_programs(0)) % 256
        row, column = place(tile, 16, 16, GROUP)
        acc = multiply(a, b, row * BM, column * BN, K, BM, BN, BK, DESCRIPTORS)
        tl.store(c + offsets(row * BM, column * BN, 16 * BN, BM, BN), acc.to(tl.bfloat16))


def time_of(call):
    times = []
    for _ in range(WARM_UP + RUNS):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(PAUSE_CYCLES)
        start.record()
        call()
        stop.record()
        torch.cuda.synchronize()
        times.append(1000 * start.elapsed_time(stop))
    return statistics.median(times[WARM_UP:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", required=True, help="the file of lines")
    out = open(parser.parse_args().out, "w")
    write = lambda line: print(json.dumps(line, separators=(",", ":")), file=out, flush=True)
    write({"kind": "meta", "device": torch.cuda.get_device_name(), "torch": torch.__version__,
           "triton": triton.__version__, "method": "calibration/triton/few_programs.py"})
    most = units(torch.device("cuda", 0))
    for config in (LARGE, SMALL):
        for k in (2048, 8192):
            a = torch.randn(DOWN * config.bm, k, device="cuda", dtype=torch.bfloat16)
            b = torch.randn(ACROSS * config.bn, k, device="cuda", dtype=torch.bfloat16)
            c = torch.empty(len(a), len(b), device="cuda", dtype=torch.bfloat16)
            left, right = as_operand(a, config, config.bm), as_operand(b, config, config.bn)
            for programs in (1, 4, 12, 24, 36, 48, 60, 72, 84, 96, 108, 120, most):
                for rounds in (1, 4):
                    us = time_of(lambda: tiles_alone[(programs,)](left, right, c, rounds, k,
                                                                  **config.constants()))
                    write({"kind": "tiles", "bm": config.bm, "bn": config.bn, "k": k,
                           "programs": programs, "rounds": rounds, "us": round(us, 2)})


if __name__ == "__main__":
    main()
