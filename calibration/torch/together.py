"""Times of all ranks from a common start, and the lines that say them.

A run is queued behind a sleep on the GPU that is longer than the host takes to queue it, and behind
a barrier of all ranks' GPUs; both are before the first event. So the host is not in a time, and all
ranks start within one flag's way. A time is the slowest rank's, between the events on the stream
that the caller uses; what an operator queues on other streams joins that one again.
"""
import json
import os
import statistics
import sys
import threading
import time

import torch
import torch.distributed as dist

WARM_UP = 2
CYCLES_PER_US = 2000       # of torch.cuda._sleep
GIVEN_UP_S = 40            # nothing happened for so long: the process ends


def on_all_gpus(run_rank, *arguments):
    """run_rank(rank, ranks, *arguments) in a process for each GPU of the node; ends with a word
    where there is only one."""
    import torch.multiprocessing as multiprocessing
    # Without multicast: a program that uses it can put GPUs that others share out of service.
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    os.environ.setdefault("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1")
    ranks = torch.cuda.device_count()
    if ranks < 2:
        sys.exit(f"this needs two GPUs or more, not {ranks}")
    multiprocessing.spawn(run_rank, (ranks, *arguments), nprocs=ranks)


class Watchdog:
    """Ends the process, with the name of what ran, when a kernel waits for ever."""

    def __init__(self):
        self.what, self.at = "start", time.monotonic()
        threading.Thread(target=self.watch, daemon=True).start()

    def says(self, what):
        self.what, self.at = what, time.monotonic()

    def watch(self):
        while time.monotonic() < self.at + GIVEN_UP_S:
            time.sleep(0.5)
        print(f"given up: {self.what}", file=sys.stderr, flush=True)
        os._exit(3)


class Together:
    def __init__(self, repeats):
        import torch.distributed._symmetric_memory as symmetric
        self.repeats = repeats
        self.memory = symmetric.empty(64, dtype=torch.int32, device="cuda")
        self.handle = symmetric.rendezvous(self.memory, dist.group.WORLD)
        self.watchdog = Watchdog()

    def once(self, call, lead_us):
        """Microseconds on this rank, whether the host was in time, and what it took to queue."""
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(int(lead_us * CYCLES_PER_US))
        self.handle.barrier(channel=3)
        start.record()
        begin = time.perf_counter()
        call()
        host_us = (time.perf_counter() - begin) * 1e6
        stop.record()
        in_time = not start.query()
        torch.cuda.synchronize()
        return start.elapsed_time(stop) * 1000, in_time, host_us

    def times(self, call):
        """Of the slowest rank, run by run."""
        lead_us, seen = 2000, []
        for i in range(WARM_UP + self.repeats):
            us, in_time, host_us = self.once(call, lead_us)
            lead_us = 200 + 2 * host_us if in_time else 2 * lead_us + 2 * host_us
            seen.append((us, 0.0 if in_time else 1.0))
        most = torch.tensor(seen[WARM_UP:], device="cuda")
        dist.all_reduce(most, op=dist.ReduceOp.MAX)
        good = [us for us, late in most.tolist() if late == 0]
        if len(good) * 2 < self.repeats:
            raise RuntimeError("the host was too late to queue most runs")
        return good


def summary(times):
    digits = lambda x: float(f"{x:.5g}")
    return {"us": digits(statistics.median(times)), "us_min": digits(min(times)),
            "us_max": digits(max(times)), "runs": len(times)}


class Lines:
    """One JSON object a line, written by rank 0."""

    def __init__(self, path):
        self.out = open(path, "w") if path and dist.get_rank() == 0 else None

    def write(self, line):
        if self.out:
            self.out.write(json.dumps(line, separators=(",", ":")) + "\n")
            self.out.flush()


def difference(got, expected):
    """Relative, over all elements of all ranks; not a number, or far off in one place: infinite."""
    got, expected = got.detach().float(), expected.detach().float()
    error = (got - expected).norm() / expected.norm()
    worst = (got - expected).abs().max() / expected.abs().max()
    bad = torch.isnan(error) | (worst > 0.05)
    seen = torch.where(bad, torch.full_like(error, float("inf")), error).reshape(1)
    dist.all_reduce(seen, op=dist.ReduceOp.MAX)
    return float(seen)
