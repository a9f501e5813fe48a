"""How the families time their operators on one GPU, and how lines are written.

A case is captured into a CUDA graph of many calls that take their inputs in turn; the graph is
replayed `repeats` times, and a line says the median, least and most time of one call. Cold cases
take operands that no call before has brought into the L2: they rotate through a pool far larger
than it, and before each replay as much other memory is read. Warm cases repeat one set.
"""
import json
import math
import os
import statistics
import sys
import tempfile
import time

import torch

from kernels import i32, launch

POOL_BYTES = 4 << 30       # random numbers that operands are views of
COLD_BYTES = 384 << 20     # read before a replay, and rotated through: 6 L2s of an H200
MOST_CALLS = 200           # of a graph
GRAPH_US = 1500            # about so long is a graph


def device_facts():
    import pynvml
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    text = lambda x: x.decode() if isinstance(x, bytes) else x
    properties = torch.cuda.get_device_properties(0)
    return {
        "device": properties.name, "units": properties.multi_processor_count,
        "l2_bytes": properties.L2_cache_size,
        "driver": text(pynvml.nvmlSystemGetDriverVersion()),
        "sm_mhz_most": pynvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_SM),
        "memory_mhz": pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_MEM),
        "power_limit_w": pynvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000,
        "torch": torch.__version__, "cuda": torch.version.cuda,
        "cublas": cublas_version(), "cudnn": torch.backends.cudnn.version(),
    }


def cublas_version():
    import ctypes
    for name in ("libcublas.so.13", "libcublas.so.12"):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        parts = []
        for which in (0, 1, 2):
            value = ctypes.c_int()
            library.cublasGetProperty(which, ctypes.byref(value))
            parts.append(str(value.value))
        return ".".join(parts)
    return "unknown"


class Clocks:
    """The SMs' clock over a time: their counters before and after (kernels.cu, stamp)."""

    def __init__(self):
        self.units = torch.cuda.get_device_properties(0).multi_processor_count
        self.stamps = [torch.zeros(self.units, 2, dtype=torch.int64, device="cuda")
                       for _ in range(2)]

    def stamp(self, which):
        launch("run_stamp", self.stamps[which], i32(8 * self.units))

    def sm_mhz(self):
        before, after = (s.tolist() for s in self.stamps)
        return round(statistics.median((y[0] - x[0]) / (y[1] - x[1]) * 1000
                                       for x, y in zip(before, after) if y[1] > x[1] > 0))


class Bench:
    def __init__(self, path, quick, repeats, seed):
        self.out = open(path, "a")
        self.quick = quick
        self.seed = 1000 * seed      # added to those that shapes are drawn from
        self.repeats = repeats
        self.deadline = math.inf
        self.failed = {}
        self.pool = torch.empty(POOL_BYTES // 2, dtype=torch.bfloat16, device="cuda")
        for part in self.pool.split(1 << 28):
            part.normal_()
        self.other = torch.ones(COLD_BYTES // 4, dtype=torch.int32, device="cuda")
        self.at = 0
        self.clocks = Clocks()
        self.write({"kind": "meta", "date": time.strftime("%Y-%m-%d"), "quick": quick,
                    "repeats": repeats, "seed": seed,
                    "method": "CUDA graphs; calibration/pytorch/README.md",
                    **device_facts()})

    def write(self, line):
        self.out.write(json.dumps(line, separators=(",", ":")) + "\n")
        self.out.flush()

    # ---- operands

    def operand(self, *shape):
        """A view of the pool: random bf16 that the last operands do not overlap."""
        size = (math.prod(shape) + 127) // 128 * 128
        if self.at + size > self.pool.numel():
            self.at = 0
        view = self.pool[self.at:self.at + math.prod(shape)].view(*shape)
        self.at += size
        return view

    def sets_for(self, bytes_of_a_set):
        """So many sets of operands that repeat after more than the L2 holds."""
        return max(2, min(MOST_CALLS, -(-COLD_BYTES // max(1, bytes_of_a_set))))

    # ---- times

    def flush(self):
        self.other.sum()

    def late(self):
        return time.monotonic() > self.deadline

    def graph_of(self, calls, most_calls=MOST_CALLS):
        calls[0]()
        calls[-1]()
        torch.cuda.synchronize()

        def of(count):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for i in range(count):
                    calls[i % len(calls)]()
            return graph
        few = of(4)
        few.replay()
        once_us = self.once(few, 4)[0]
        count = max(2, min(most_calls, math.ceil(GRAPH_US / once_us)))
        return of(count), count

    def once(self, graph, count):
        """A replay: microseconds of a call, and the SMs' clock in MHz, from their own counters."""
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.clocks.stamp(0)
        begin.record()
        graph.replay()
        end.record()
        self.clocks.stamp(1)
        torch.cuda.synchronize()
        return begin.elapsed_time(end) * 1000 / count, self.clocks.sm_mhz()

    def replay(self, graph, count, warm):
        """Microseconds of a call and the SMs' clock, each replay; the first one warms up."""
        seen = []
        for i in range(self.repeats + 1):
            if not warm:
                self.flush()
            seen.append(self.once(graph, count))
        return [s[0] for s in seen[1:]], statistics.median(s[1] for s in seen[1:])

    def run(self, kind, facts, make, warm=False, profile=True, most_calls=MOST_CALLS):
        """`make()` gives the calls, which take their operands in turn; writes the line."""
        if self.late():
            return None
        try:
            calls = make()
            graph, count = self.graph_of(calls, most_calls)
            times, sm_mhz = self.replay(graph, count, warm)
            line = {"kind": kind, **facts, "cache": "warm" if warm else "cold", "calls": count,
                    **summary(times), "sm_mhz": sm_mhz}
            del graph
            if profile:
                line["kernels"] = kernels_of(calls[-1])
            self.write(line)
            return line
        except Exception as problem:  # an operator that this GPU or version does not have
            text = f"{type(problem).__name__}: {str(problem).splitlines()[0][:160]}"
            if self.failed.setdefault(kind, []).count(text) == 0:
                print(f"left out: {kind} {facts}: {text}", file=sys.stderr)
            self.failed[kind].append(text)
            torch.cuda.synchronize()
            return None


def summary(times):
    digits = lambda x: float(f"{x:.5g}")
    return {"us": digits(statistics.median(times)), "us_min": digits(min(times)),
            "us_max": digits(max(times))}


def kernels_of(call):
    """The longest kernels of one call, in order: name, grid, threads, registers and shared memory
    of a WG, microseconds by the profiler; last the number of others."""
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        call()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        seen.export_chrome_trace(path)
        events = json.load(open(path))["traceEvents"]
    found = []
    for event in sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"]):
        args = event["args"]
        found.append([short(event["name"]), args.get("grid"), math.prod(args.get("block", [0])),
                      args.get("registers per thread"), args.get("shared memory"),
                      round(event["dur"], 2)])
    longest = sorted(found, key=lambda k: -k[-1])[:4]
    return [k for k in found if k in longest] + ([len(found) - 4] if len(found) > 4 else [])


def short(name):
    for word in ("void ", "at::native::", "(anonymous namespace)::", "pytorch_flash::", "cutlass::",
                 "cudnn_generated_fort_native_", "at::cuda::detail::", "at_cuda_detail::cub::"):
        name = name.replace(word, "")
    return name[:72]


def log_uniform(rng, least, most):
    return math.exp(rng.uniform(math.log(least), math.log(most)))


def multiple(x, of):
    return max(of, int(round(x / of)) * of)
