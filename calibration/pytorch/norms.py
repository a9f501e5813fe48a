#!/usr/bin/env python3
"""Which kernels PyTorch's compiler makes of RMS norms and their backward pass, and how long each
takes, from profiles; JSON lines out (README.md).

    python3 calibration/pytorch/norms.py -o OUT
"""
import argparse
import itertools
import json
import pathlib
import statistics
import tempfile

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile

L2_BYTES = 300_000_000                              # sets of operands are more than any L2 together
CALLS = 12
SHAPES = [("rms_norm", 28072, 2048), ("rms_norm", 15104, 3584), ("add_rms_norm", 21208, 8192),
          ("rms_norm", 1424, 5120), ("rms_norm", 1056, 8192), ("add_rms_norm", 2704, 2048),
          ("add_rms_norm", 472, 4096), ("rms_norm", 480, 12288), ("rms_norm", 4816, 8192),
          ("add_rms_norm", 1944, 8192), ("add_rms_norm", 11016, 8192),
          *(("rms_norm", tokens, width) for tokens, width in
            itertools.product((512, 1024, 2048, 4096, 8192, 16384), (2048, 4096, 5120, 8192))),
          *(("add_rms_norm", tokens, width) for tokens, width in
            ((2048, 4096), (4096, 4096), (8192, 4096), (8192, 8192), (4096, 2048), (16384, 2048)))]


def rms_norm(x, w):
    return (F.rms_norm(x, (x.shape[-1],), w, 1e-6),)


def add_rms_norm(x, r, w):
    h = x + r
    return h, F.rms_norm(h, (h.shape[-1],), w, 1e-6)


FUNCTIONS = {f.__name__: f for f in (rms_norm, add_rms_norm)}


def operands(op, tokens, width):
    """What goes in, and the gradients of what comes out."""
    def tensor(*size):
        return torch.randn(*size, device="cuda", dtype=torch.bfloat16)
    given = [tensor(tokens, width) for _ in range(2 if op == "add_rms_norm" else 1)]
    given.append(tensor(width))
    return [x.requires_grad_() for x in given], [tensor(tokens, width) for _ in given[1:]]


def kernel_times(run, sets):
    """Median microseconds of each kernel of a call, by name."""
    for _ in range(2):
        for each in sets:
            run(*each)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        for _ in range(max(2, CALLS // len(sets))):
            for each in sets:
                run(*each)
        torch.cuda.synchronize()
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        profiled.export_chrome_trace(str(trace))
        for event in json.loads(trace.read_text())["traceEvents"]:
            if event.get("cat") == "kernel":
                times.setdefault(event["name"], []).append(event["dur"])
    return {name: statistics.median_low(all_of_it) for name, all_of_it in times.items()}


def part_of(name):
    """Triton's kernels of a pass are numbered: the persistent one (per) has both sums; otherwise
    the last reduction (red) is along rows."""
    if name.startswith("triton_red") and "backward" not in name:
        return "forward"
    if name.startswith("triton_per") and name.endswith("_0"):
        return "inputs"
    if name.startswith("triton_red") and name.endswith(("_2", "backward_1")):
        return "inputs"
    return "weights"


def lines(op, tokens, width):
    torch._dynamo.reset()
    function = torch.compile(FUNCTIONS[op], dynamic=False)
    count = max(1, min(6, L2_BYTES // (tokens * width * 8) + 1))

    def run(given, gradients):
        torch.autograd.grad(function(*given), given, gradients)
    times = kernel_times(run, [operands(op, tokens, width) for _ in range(count)])
    at_once = any(n.startswith("triton_per") and n.endswith("_0") for n in times)
    for part in ("forward", "inputs", "weights"):
        yield {"kind": "norm_kernel", "op": op, "part": part, "tokens": tokens, "width": width,
               "at_once": "yes" if at_once else "no",
               "us": round(sum(us for name, us in times.items() if part_of(name) == part), 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "norms.jsonl", "w") as out:
        for shape in SHAPES:
            for line in lines(*shape):
                out.write(json.dumps(line, separators=(",", ":")) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
