#!/usr/bin/env python3
"""Measures barriers of symmetric memory, which PyTorch's fused operators are made of.

    python3 calibration/torch/barriers.py -o OUT.jsonl     # all GPUs of the node

One line a case, of so many in a row on a stream (`count`): `symm.barrier`, one of all ranks;
`symm.signal`, one put to the next rank and one waited for from the rank before; `symm.after_store`,
`bytes` stored into the next rank's memory by a kernel, and a barrier, which has to wait for them;
`symm.launch`, the smallest kernel there is. `us` is what all of them take, so the slope over
`count` is what one takes.
"""
import argparse
import os

from together import Lines, Together, on_all_gpus, summary

COUNTS = (1, 2, 4, 8, 16, 32)
STORED = (4 << 10, 1 << 20, 16 << 20)  # bytes


def cases(handle):
    """(facts, what one of the row does)"""
    import torch
    rank, ranks = handle.rank, handle.world_size
    after, before = (rank + 1) % ranks, (rank - 1) % ranks
    small = torch.zeros(1, device="cuda")

    def signal():
        handle.put_signal(after, channel=1)
        handle.wait_signal(before, channel=1)

    yield {"kind": "symm.launch"}, lambda: small.add_(1)
    yield {"kind": "symm.barrier"}, lambda: handle.barrier(channel=0)
    yield {"kind": "symm.signal"}, signal
    for size in STORED:
        own = torch.ones(size // 4, device="cuda")
        there = handle.get_buffer(after, (size // 4,), torch.float32)

        def store(own=own, there=there):
            torch.add(own, 1, out=there)  # a kernel, where copy_ would take a copy engine
            handle.barrier(channel=0)
        yield {"kind": "symm.after_store", "bytes": size}, store


def measure(rank, ranks, options):
    import torch
    import torch.distributed as dist
    import torch.distributed._symmetric_memory as symmetric
    torch.cuda.set_device(rank)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(options.port))
    dist.init_process_group("nccl", rank=rank, world_size=ranks,
                            device_id=torch.device("cuda", rank))
    buffer = symmetric.empty(max(STORED) // 4, dtype=torch.float32, device="cuda")
    handle = symmetric.rendezvous(buffer, dist.group.WORLD)
    together, lines = Together(options.repeats), Lines(options.out)
    lines.write({"kind": "meta", "gpus": ranks, "device": torch.cuda.get_device_name(),
                 "torch": torch.__version__, "method": "calibration/torch/barriers.py"})
    for facts, one in cases(handle):
        for count in COUNTS:
            together.watchdog.says(f"{facts} {count}")

            def row(one=one, count=count):
                for _ in range(count):
                    one()
            lines.write({**facts, "gpus": ranks, "count": count, **summary(together.times(row))})
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", required=True, help="the file of lines")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--port", type=int, default=29532)
    on_all_gpus(measure, parser.parse_args())


if __name__ == "__main__":
    main()
