#!/usr/bin/env python3
"""Measures what an all-to-all between two GPUs is made of, by NCCL's channels: all of it, only what
goes to the other GPU, only what stays; JSON lines out (README.md).

    torchrun --nproc-per-node 2 calibration/pytorch/exchanges.py -o OUT
"""
import argparse
import time

import torch
import torch.distributed as dist

from with_collectives import MIB, Lines, Timer, device_facts, groups_by_channels

SIZES = [MIB << i for i in (0, 2, 4, 6, 8, 9)]     # of a GPU, both halves
CHANNELS = (0, 1, 2, 4, 8, 16, 32)


def calls(buffer, group):
    """By name: `other` and `own` move half as much."""
    n = buffer // 2
    out, into = (torch.ones(n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    peer = 1 - dist.get_rank()
    half = n // 2

    def both_ways():
        ops = [dist.P2POp(dist.isend, out[:half], peer, group),
               dist.P2POp(dist.irecv, into[:half], peer, group)]
        for work in dist.batch_isend_irecv(ops):
            work.wait()

    own = [half if rank == dist.get_rank() else 0 for rank in range(2)]
    return {
        "all_to_all": lambda: dist.all_to_all_single(into, out, group=group),
        "other": both_ways,
        "own": lambda: dist.all_to_all_single(into[:half], out[:half], own, own, group=group),
        "all_gather": lambda: dist.all_gather_into_tensor(into, out[:half], group=group),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True)
    given = parser.parse_args()
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank())
    lines = Lines(given.output + ".jsonl")
    lines.write({"kind": "meta", "date": time.strftime("%Y-%m-%d"), "gpus": 2,
                 "nccl": ".".join(map(str, torch.cuda.nccl.version())),
                 "method": "median of 7, all GPUs at once; calibration/pytorch/README.md",
                 **device_facts()})
    groups = groups_by_channels(CHANNELS[1:])
    timer = Timer(7)
    for channels in CHANNELS:
        for buffer in SIZES:
            for name, call in calls(buffer, groups[channels]).items():
                facts = {"kind": "exchange", "op": name, "gpus": 2, "bytes_per_gpu": buffer}
                if channels:
                    facts["ctas"] = channels
                call()
                lines.write(timer.line(facts, None, call))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
