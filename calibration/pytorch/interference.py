"""A GEMM concurrent with WGs that hold SMs, spinning or copying; clocks of short and long GEMMs."""
import statistics
import threading
import time

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from kernels import i32, i64, launch
from timing import kernels_of, summary

SIZE = 8192
SHARED = 80 * 1024     # as NCCL's kernels
PAUSE_S = 0.03         # before a replay, so that each finds the card equally cool


@triton.jit
def tile(a, b, c, pid_m, pid_n, K, split, SPLITS: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
         BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = pid_m * BM + tl.arange(0, BM)
    columns = pid_n * BN + tl.arange(0, BN)
    ks = split * BK + tl.arange(0, BK)
    at_a = a + rows[:, None] * K + ks[None, :]
    at_b = b + columns[None, :] * K + ks[:, None]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K // (BK * SPLITS)):
        acc = tl.dot(tl.load(at_a), tl.load(at_b), acc)
        at_a += BK * SPLITS
        at_b += BK * SPLITS
    at_c = c + rows[:, None] * N + columns[None, :]
    if SPLITS == 1:
        tl.store(at_c, acc.to(tl.bfloat16))
    else:
        tl.atomic_add(at_c, acc)


@triton.jit
def place(t, M: tl.constexpr, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    group: tl.constexpr = 8
    columns: tl.constexpr = N // BN
    first = t // (group * columns) * group
    return first + t % group, (t % (group * columns)) // group


@triton.jit
def tiled(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
          BK: tl.constexpr, SPLITS: tl.constexpr):
    pid_m, pid_n = place(tl.program_id(0) // SPLITS, M, N, BM, BN)
    tile(a, b, c, pid_m, pid_n, K, tl.program_id(0) % SPLITS, SPLITS, M, N, BM, BN, BK)


@triton.jit
def persistent(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
               BK: tl.constexpr, WGS: tl.constexpr):
    for t in range(tl.program_id(0), (M // BM) * (N // BN), WGS):
        pid_m, pid_n = place(t, M, N, BM, BN)
        tile(a, b, c, pid_m, pid_n, K, 0, 1, M, N, BM, BN, BK)


def gemms(bench, units):
    a, b = bench.operand(SIZE, SIZE), bench.operand(SIZE, SIZE)
    c = torch.empty(SIZE, SIZE, dtype=torch.bfloat16, device="cuda")
    c32 = torch.zeros(SIZE, SIZE, dtype=torch.float32, device="cuda")
    tiles = (SIZE // 128) * (SIZE // 256)
    block = {"M": SIZE, "N": SIZE, "BM": 128, "BN": 256, "BK": 64, "num_warps": 8, "num_stages": 3}
    named = {
        "library": lambda: F.linear(a, b),
        "tiled": lambda: tiled[(tiles,)](a, b, c, SIZE, SPLITS=1, **block),
        "persistent": lambda: persistent[(units,)](a, b, c, SIZE, WGS=units, **block),
        "split_k_4": lambda: tiled[(4 * tiles,)](a, b, c32, SIZE, SPLITS=4, **block),
    }
    expected = F.linear(a[:512].float(), b.float())
    for name, call in named.items():
        c.fill_(float("nan"))
        c32.zero_()
        got = call()
        got = got if name == "library" else (c32 if name == "split_k_4" else c)
        error = (got[:512].float() - expected).norm() / expected.norm()
        if not error < 1e-2:
            raise RuntimeError(f"{name}: wrong by {error}")
    return named


def watch(work):
    """What NVML says of clock and power while `work` runs, each 20 ms."""
    import pynvml
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    found, over = [], threading.Event()

    def look():
        while not over.is_set():
            found.append((pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM),
                          pynvml.nvmlDeviceGetPowerUsage(handle) / 1000))
            time.sleep(0.02)
    thread = threading.Thread(target=look)
    thread.start()
    try:
        work()
    finally:
        over.set()
        thread.join()
    return found


def graph_of(call, count):
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            call()
    return graph


class Beside:
    def __init__(self, bench):
        self.bench = bench
        self.from_, self.to = (torch.ones(64 << 20, dtype=torch.int32, device="cuda")
                               for _ in range(2))
        self.word = torch.zeros(1, dtype=torch.int32, device="cuda")
        self.on_sm = torch.zeros(bench.clocks.units, dtype=torch.int32, device="cuda")
        self.moved = torch.zeros(bench.clocks.units, dtype=torch.int64, device="cuda")
        self.first, self.second = torch.cuda.Stream(priority=-1), torch.cuda.Stream()

    def hold(self, wgs, cluster, interval_ns, hold_ns):
        launch("run_hold", self.from_, self.to, i64(256 << 20), i64(interval_ns), i64(hold_ns),
               self.word, self.moved, self.on_sm, i32(wgs), i32(cluster), i32(SHARED))

    def one(self, graph, count, config, hold_ns):
        """A replay while WGs hold SMs: us of a call, SM MHz, GB/s copied, SMs held, pairs held."""
        wgs, cluster, interval_ns = config
        self.on_sm.zero_()
        self.moved.zero_()
        torch.cuda.synchronize()
        time.sleep(PAUSE_S)
        if wgs:
            with torch.cuda.stream(self.first):
                self.hold(wgs, cluster, interval_ns, hold_ns)
                held = torch.cuda.Event()
                held.record()
            time.sleep(0.0005)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(self.second):
            self.bench.clocks.stamp(0)
            begin.record()
            graph.replay()
            end.record()
            self.bench.clocks.stamp(1)
        end.synchronize()
        if wgs and held.query():
            raise RuntimeError("the WGs beside ended too early")
        torch.cuda.synchronize()
        held_sms = [i for i, n in enumerate(self.on_sm.tolist()) if n]
        if int(self.on_sm.sum()) != wgs:
            raise RuntimeError("not all WGs beside ran")
        return (begin.elapsed_time(end) * 1000 / count, self.bench.clocks.sm_mhz(),
                float(self.moved.sum()) / max(1, hold_ns), len(held_sms),
                len({i // 2 for i in held_sms}))

    def all(self, facts, call, count, configs):
        """Round after round through all configurations, so that a slow drift meets all alike."""
        graph = graph_of(call, count)
        alone_us = statistics.median(self.one(graph, count, (0, 1, 0), 0)[0] for _ in range(3))
        hold_ns = int(alone_us * count * 1000 * 2.4) + 3000000
        rounds = {config: [] for config in configs}
        for _ in range(2 if self.bench.quick else 5):
            for config in configs:
                if self.bench.late():
                    return
                rounds[config].append(self.one(graph, count, config, hold_ns))
        kernels = kernels_of(call)
        for (wgs, cluster, interval_ns), seen in rounds.items():
            middle = lambda i: statistics.median(r[i] for r in seen)
            line = {"kind": "beside", **facts, "wgs": wgs, "cluster": cluster,
                    "interval_ns": interval_ns, **summary([r[0] for r in seen]),
                    "sm_mhz": middle(1), "copied_gb_s": round(middle(2), 1),
                    "sms_held": middle(3), "pairs_held": middle(4)}
            if wgs == 0:
                line["kernels"] = kernels
            self.bench.write(line)


def configs(quick):
    """WGs beside, how many of them are placed together, and how often each copies 32 KiB: never
    (only holds its SM), at 25 GB/s as a channel of NCCL, as often as it can."""
    found = [(0, 1, 0)]
    for wgs in (8,) if quick else (1, 2, 4, 8, 16, 24, 32):
        for cluster in (1, 4):
            if wgs % cluster == 0:
                found += [(wgs, cluster, interval_ns) for interval_ns in (0, 1311, 1)]
    return found


def measure_beside(bench, named):
    beside = Beside(bench)
    for name, call in named.items():
        beside.all({"gemm": name, "m": SIZE, "n": SIZE, "k": SIZE}, call, 6, configs(bench.quick))
    for m, n, k in ((16384, 8192, 8192), (4096, 8192, 8192), (8192, 8192, 1024)):
        x, w = bench.operand(m, k), bench.operand(n, k)
        few = [c for c in configs(bench.quick) if c[2] < 1311 and c[0] in (0, 8, 16, 32)]
        beside.all({"gemm": "library", "m": m, "n": n, "k": k}, lambda: F.linear(x, w),
                   max(2, int(6 * 2**39 / (m * n * k))), few)
    # A kernel bound by memory beside the same.
    x, y = bench.pool[:1 << 29], torch.empty(1 << 29, dtype=torch.bfloat16, device="cuda")
    beside.all({"gemm": "copy of 1 GiB"}, lambda: y.copy_(x), 6,
               [c for c in configs(bench.quick) if c[1] == 1])
    # The library told to leave SMs.
    for left in (8,) if bench.quick else (8, 16, 24, 32):
        torch._C._set_sm_carveout_experimental(left)
        a, b = bench.operand(SIZE, SIZE), bench.operand(SIZE, SIZE)
        beside.all({"gemm": "library", "m": SIZE, "n": SIZE, "k": SIZE, "sms_left": left},
                   lambda: F.linear(a, b), 6, [(0, 1, 0), (left, 1, 0), (left, 4, 0)])
    torch._C._set_sm_carveout_experimental(None)


def measure_clocks(bench, named):
    """GEMM after GEMM for a while: time and clock of each graph; bursts with pauses; zeros."""
    zeros = torch.zeros(SIZE, SIZE, dtype=torch.bfloat16, device="cuda")
    narrow = bench.operand(SIZE, 1024), bench.operand(SIZE, 1024)
    cases = {"library": (named["library"], 2),
             "library, zeros": (lambda: F.linear(zeros, zeros), 2),
             "library, k 1024": (lambda: F.linear(*narrow), 16)}
    for name, (call, count) in cases.items():
        graph = graph_of(call, count)
        for pause_s, seconds in ((0, 0.4 if bench.quick else 3.0), (0.05, 0.6)):
            time.sleep(0.7)
            seen = []

            def work():
                begin = time.monotonic()
                while time.monotonic() < begin + seconds:
                    seen.append((time.monotonic() - begin, *bench.once(graph, count)))
                    time.sleep(pause_s)
            said = watch(work)
            some = lambda all_: all_[:6] + all_[6::max(1, len(all_) // 20)]
            bench.write({"kind": "clock", "gemm": name, "pause_s": pause_s, "calls": count,
                         **summary([s[1] for s in seen]),
                         "at_s": [round(s[0], 4) for s in some(seen)],
                         "us_each": [round(s[1], 1) for s in some(seen)],
                         "sm_mhz": [s[2] for s in some(seen)],
                         "nvml_mhz": [w[0] for w in some(said)],
                         "watts": [round(w[1]) for w in some(said)]})


def measure(bench):
    named = gemms(bench, bench.clocks.units)
    measure_clocks(bench, named)
    measure_beside(bench, named)
