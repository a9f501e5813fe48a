#!/usr/bin/env python3
"""Measures GEMMs of the library concurrent with NCCL's collectives, and training steps with and
without DDP's sums of gradients, on the GPUs of a node; JSON lines out (README.md).

    torchrun --nproc-per-node 2 calibration/pytorch/with_collectives.py -o OUT
"""
import argparse
import itertools
import json
import os
import random
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sustained import Layer                                                   # noqa: E402
from timing import Clocks, device_facts, kernels_of, log_uniform, multiple, summary  # noqa: E402

PAUSE_S = 0.03      # before a run, so that each finds the card equally cool
HEAD_START_CYCLES = 20_000   # of what is launched first: 10 us, so that it has its SMs for sure
GATE_CYCLES = 3_000_000   # for which the GPU waits until everything is queued: 1.5 ms
MIB = 1 << 20

SHAPES = [(8192, 8192, 8192), (16384, 8192, 8192), (4096, 8192, 8192), (8192, 8192, 1024),
          (4096, 28672, 4096), (2048, 4096, 14336)]
OPS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")


def is_first():
    return dist.get_rank() == 0


class Lines:
    def __init__(self, path):
        self.out = open(path, "a") if is_first() else None

    def write(self, line):
        if self.out:
            self.out.write(json.dumps(line, separators=(",", ":")) + "\n")
            self.out.flush()


def groups_by_channels(numbers):
    """A communicator for each number of channels; 0: as many as NCCL takes."""
    found = {0: dist.group.WORLD}
    for number in numbers:
        options = dist.ProcessGroupNCCL.Options()
        options.config.min_ctas = options.config.max_ctas = number
        found[number] = dist.new_group(backend="nccl", pg_options=options)
    return found


class Collectives:
    """Calls on buffers of their own; `buffer` bytes are what weft's lines call bytes_per_gpu:
    all-gather: received, reduce-scatter and all-reduce: the whole sum, all-to-all: sent."""

    def __init__(self, most):
        elements = most // 2
        self.whole = torch.ones(elements, device="cuda", dtype=torch.bfloat16)
        self.other = torch.empty(elements, device="cuda", dtype=torch.bfloat16)

    def call(self, op, buffer, group):
        n = buffer // 2
        whole, other = self.whole[:n], self.other[:n]
        part = n // dist.get_world_size()
        if op == "all_reduce":
            return lambda: dist.all_reduce(whole, group=group)
        if op == "all_gather":
            return lambda: dist.all_gather_into_tensor(other, whole[:part], group=group)
        if op == "reduce_scatter":
            return lambda: dist.reduce_scatter_tensor(other[:part], whole, group=group)
        return lambda: dist.all_to_all_single(other, whole, group=group)


class Timer:
    """All GPUs begin together, once everything is queued; the slowest one's end counts."""

    def __init__(self, repeats):
        self.repeats = repeats
        self.clocks = Clocks()
        self.flag = torch.zeros(1, device="cuda")
        self.low, self.high = torch.cuda.Stream(), torch.cuda.Stream(priority=-1)

    def once(self, gemm, comm, comm_first):
        torch.cuda.synchronize()
        time.sleep(PAUSE_S)
        dist.barrier()
        torch.cuda._sleep(GATE_CYCLES)
        dist.all_reduce(self.flag)            # nobody begins before all are here
        self.clocks.stamp(0)
        event = lambda: torch.cuda.Event(enable_timing=True)
        begin, second, gemm_end, comm_end = event(), event(), event(), event()
        begin.record()
        if gemm is not None and comm is not None:
            torch.cuda._sleep(HEAD_START_CYCLES)
        second.record()
        parts = [(self.low, gemm, gemm_end), (self.high, comm, comm_end)]
        ready = [second, begin] if comm_first else [begin, second]
        for (stream, call, end), from_here in zip(parts, ready):
            if call is None:
                continue
            with torch.cuda.stream(stream):
                stream.wait_event(from_here)
                call()
                end.record()
        for stream, call, end in parts:
            if call is not None:
                torch.cuda.current_stream().wait_event(end)
        self.clocks.stamp(1)
        torch.cuda.synchronize()
        ends = [begin.elapsed_time(end) * 1000 if call is not None else 0.0
                for _, call, end in parts]
        slowest = torch.tensor(ends, device="cuda")
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        return (*slowest.tolist(), self.clocks.sm_mhz())

    def line(self, facts, gemm=None, comm=None, comm_first=False):
        seen = [self.once(gemm, comm, comm_first) for _ in range(self.repeats + 1)][1:]
        middle = lambda i: statistics.median(s[i] for s in seen)
        line = {**facts, **summary([max(s[0], s[1]) for s in seen]), "sm_mhz": middle(2)}
        if gemm is not None and comm is not None:
            line["gemm_us"], line["comm_us"] = round(middle(0), 1), round(middle(1), 1)
        return line


def drawn_pairs(quick):
    """Random GEMMs, each with a collective that takes 0.3 to 1.2 times as long."""
    rng = random.Random(20)
    for _ in range(2 if quick else 14):
        m, n, k = (multiple(log_uniform(rng, 2048, 16384), 128) for _ in range(3))
        gemm_us = 2 * m * n * k / 760e6 + 8
        buffer = multiple(log_uniform(rng, 0.3, 1.2) * gemm_us * 0.28e6, MIB)
        yield (m, n, k), rng.choice(OPS), min(buffer, 1 << 30), rng.choice((0, 0, 4, 8, 16, 32))


def named_pairs(quick):
    """All shapes and operations with NCCL's channels; one of each with other numbers."""
    for shape, op in itertools.product(SHAPES[:1] if quick else SHAPES, OPS):
        gemm_us = 2 * shape[0] * shape[1] * shape[2] / 760e6
        buffer = max(4 * MIB, 1 << int(gemm_us * 0.25e6).bit_length() - 1)
        numbers = (0,)
        if shape == SHAPES[0] and not quick:
            numbers = (0, 2, 4, 8, 16, 32)
        elif shape == SHAPES[1] and not quick:
            numbers = (0, 8)
        for channels in numbers:
            yield shape, op, buffer, channels


def measure_pairs(lines, timer, quick):
    groups = groups_by_channels((2, 4, 8, 16, 32))
    collectives = Collectives(1 << 30)
    alone = {}
    pairs = list(named_pairs(quick)) + list(drawn_pairs(quick))
    for (m, n, k), op, buffer, channels in pairs:
        a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(n, k, device="cuda", dtype=torch.bfloat16)
        gemm = lambda: F.linear(a, b)
        comm = collectives.call(op, buffer, groups[channels])
        gpus = {"gpus": dist.get_world_size()}
        shape = {"m": m, "n": n, "k": k}
        moved = {"bytes_per_gpu": buffer, "collective": op.replace("_", "")}
        limit = {"ctas": channels} if channels else {}
        if (m, n, k) not in alone:
            line = timer.line({"kind": "c3.gemm_alone", **gpus, **shape, **moved}, gemm)
            line["kernels"] = kernels_of(gemm)
            alone[m, n, k] = lines.write(line)
        if (op, buffer, channels) not in alone:
            kind = "c3.comm_alone_ctas" if channels else "c3.comm_alone"
            facts = {"kind": kind, **gpus, **shape, **moved, **limit}
            alone[op, buffer, channels] = lines.write(timer.line(facts, None, comm))
        facts = {**gpus, **shape, **moved, **limit}
        if channels:
            lines.write(timer.line({"kind": "c3.partition", **facts}, gemm, comm, True))
        else:
            lines.write(timer.line({"kind": "c3.comm_first", **facts}, gemm, comm, True))
            lines.write(timer.line({"kind": "c3.base", **facts}, gemm, comm, False))


def streams():
    """Kernels that the memory holds up: name, bytes read and written, a call of about 2 ms."""
    n = 1 << 31
    x, y = (torch.ones(n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    half = n // 2
    rows = torch.ones(half // 8192, 8192, device="cuda", dtype=torch.bfloat16)
    vector = torch.ones(8192, device="cuda", dtype=torch.bfloat16)
    return (("copy", 4 * n, lambda: y.copy_(x)),
            ("sum", 2 * n, lambda: x.view(1 << 16, -1).sum(1)),
            ("add", 6 * half, lambda: torch.add(x[:half], y[:half], out=x[half:])),
            ("gemv", 2 * half, lambda: torch.mv(rows, vector)))


def measure_streams(lines, timer, quick):
    """The same beside kernels that move bytes instead of computing."""
    groups = groups_by_channels((4, 8, 16))
    collectives = Collectives(1 << 30)
    gpus = {"gpus": dist.get_world_size()}
    alone = {}
    for (name, moved, call), op, channels in itertools.product(
            streams(), ("all_gather", "all_reduce"), (0, 8) if quick else (0, 4, 8, 16)):
        buffer = (64 if channels == 4 else 128 if channels == 8 else 256) * MIB
        comm = collectives.call(op, buffer, groups[channels])
        facts = {**gpus, "collective": op.replace("_", ""), "bytes_per_gpu": buffer,
                 "ctas": channels}
        if name not in alone:
            alone[name] = lines.write(timer.line({"kind": "stream_alone", **gpus, "stream": name,
                                                  "bytes": moved}, call))
        if (op, channels) not in alone:
            alone[op, channels] = lines.write(timer.line({"kind": "stream_comm_alone", **facts},
                                                         None, comm))
        lines.write(timer.line({"kind": "stream_beside", **facts, "stream": name, "bytes": moved},
                               call, comm, True))


def step_times(step, repeats):
    """Milliseconds of steps one after another, after some to warm up; the slowest GPU's."""
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    found = []
    for _ in range(repeats):
        time.sleep(0.1)
        dist.barrier()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(20 * GATE_CYCLES)
        dist.all_reduce(torch.zeros(1, device="cuda"))
        begin.record()
        step()
        end.record()
        torch.cuda.synchronize()
        slowest = torch.tensor(begin.elapsed_time(end), device="cuda")
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        found.append(slowest.item() * 1000)
    return found


def measure_steps(lines, quick):
    """Layers as of Llama 3 8B, forward and backward: as DDP sums their gradients, and without."""
    from torch.nn.parallel import DistributedDataParallel
    for layers, tokens, bucket in ((6, 2048, 25), (6, 2048, 200), (6, 4096, 25),
                                   (6, 4096, 200), (6, 2048, 100), (4, 8192, 25), (6, 1024, 25)):
        if quick and (tokens, bucket) != (2048, 25):
            continue
        model = torch.nn.Sequential(*(Layer() for _ in range(layers)))
        model = DistributedDataParallel(model, bucket_cap_mb=bucket, gradient_as_bucket_view=True)
        x = torch.randn(1, tokens, 4096, device="cuda", dtype=torch.bfloat16)
        head = torch.ones(1, tokens, 4096, device="cuda", dtype=torch.bfloat16)

        def step():
            model(x).backward(head)

        def apart():
            with model.no_sync():
                model(x).backward(head)
        facts = {"gpus": dist.get_world_size(), "layers": layers, "tokens": tokens,
                 "bucket_mib": bucket}
        for sums, call in ((False, apart), (True, step)):
            line = {"kind": "ddp_step", **facts, "sums": sums,
                    **summary(step_times(call, 4 if quick else 9))}
            if tokens == 2048 and bucket == 25:
                line["kernels"] = kernels_of(call)
            lines.write(line)
        del model
        torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few of everything")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="pairs,streams,steps")
    parser.add_argument("-o", "--out", required=True,
                        help="folder; the lines go to with_collectives.jsonl")
    options = parser.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", device_id=torch.device("cuda", torch.cuda.current_device()))
    torch.manual_seed(1 + dist.get_rank())
    os.makedirs(options.out, exist_ok=True)
    lines = Lines(os.path.join(options.out, "with_collectives.jsonl"))
    lines.write({"kind": "meta", "date": time.strftime("%Y-%m-%d"), "quick": options.quick,
                 "repeats": options.repeats, "method": "calibration/pytorch/README.md",
                 "gpus": dist.get_world_size(), "nccl": list(torch.cuda.nccl.version()),
                 **device_facts()})
    begin = time.monotonic()
    if "pairs" in options.only:
        measure_pairs(lines, Timer(3 if options.quick else options.repeats), options.quick)
        print(f"pairs: {time.monotonic() - begin:.0f} s", flush=True)
    if "streams" in options.only:
        measure_streams(lines, Timer(3 if options.quick else options.repeats), options.quick)
        print(f"streams: {time.monotonic() - begin:.0f} s", flush=True)
    if "steps" in options.only:
        measure_steps(lines, options.quick)
        print(f"all: {time.monotonic() - begin:.0f} s", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
