"""Short gathers of rows from tables about as large as the L2, by what ran before; empty kernels."""
import random
import statistics

import torch
import torch.nn.functional as F

from kernels import i32, launch
from timing import log_uniform, summary

MIB = 1 << 20
SETS = 12          # of random row numbers


def shapes(bench):
    rng = random.Random(70 + bench.seed)
    drawn = []
    all_mib = (16, 24, 32, 40, 48, 56, 64, 80, 100, 130, 160, 200, 400)
    for table_mib in ((40, 120) if bench.quick else all_mib):
        for _ in range(1 if bench.quick else 4):
            row_bytes = rng.choice((128, 256, 512))
            wgs = rng.choice((132, 264, 528, 792, 1056))
            in_flight = rng.choice((1, 4, 8))
            groups = wgs * 256 * 16 // row_bytes
            gathered = log_uniform(rng, 12 * MIB, 90 * MIB)
            rows = max(8, round(gathered / row_bytes / groups / 8) * 8)
            drawn.append({"table_bytes": table_mib * MIB, "row_bytes": row_bytes, "wgs": wgs,
                          "in_flight": in_flight, "rows_of_a_group": rows,
                          "gathered_bytes": rows * groups * row_bytes})
    return drawn


def gather(table, rows, out, shape):
    launch("run_gather", table, rows, out, i32(shape["row_bytes"]), i32(shape["wgs"]),
           i32(shape["rows_of_a_group"]), i32(shape["in_flight"]))


def check(table, rows, out, shape):
    gather(table, rows, out.fill_(0), shape)
    words = shape["row_bytes"] // 4
    read = table.view(-1, words)[rows[:1000 * shape["rows_of_a_group"]].long()]
    read = read.view(-1, shape["rows_of_a_group"], words)
    expected = read[:, 0]
    for i in range(1, shape["rows_of_a_group"]):
        expected = expected ^ read[:, i]
    if not torch.equal(out.view(-1)[:expected.numel()], expected.reshape(-1)):
        raise RuntimeError("gathered rows are wrong")


def timed(bench, calls, before=None):
    """One graph of calls, each after `before`; less the graph of what is before alone."""
    count = 4 * len(calls) if before is None else 2 * len(calls)

    def times(body):
        body(0)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for i in range(count):
                body(i)
        return bench.replay(graph, count, warm=True)[0]

    def body(i):
        if before:
            before()
        calls[i % len(calls)]()
    if before is None:
        return times(body)
    alone = statistics.median(times(lambda i: before()) + times(lambda i: before()))
    return [t - alone for t in times(body)]


def measure_empty(bench):
    for wgs in (1, 132, 1056):
        def one(n=wgs):
            launch("run_empty", i32(n))
        bench.run("empty", {"wgs": wgs}, lambda: [one], warm=True, profile=False)


def measure(bench):
    measure_empty(bench)
    half = bench.other[:192 * MIB // 4]      # 3 L2s of an H200
    words = torch.randint(-2**31, 2**31 - 1, (400 * MIB // 4,), dtype=torch.int32, device="cuda")
    for shape in shapes(bench):
        if bench.late():
            return
        table = words[:shape["table_bytes"] // 4]
        all_rows = shape["table_bytes"] // shape["row_bytes"]
        count = shape["gathered_bytes"] // shape["row_bytes"]
        sets = [torch.randint(all_rows, (count,), dtype=torch.int32, device="cuda")
                for _ in range(SETS)]
        out = torch.empty(shape["wgs"] * 256 * 4, dtype=torch.int32, device="cuda")
        check(table, sets[0], out, shape)
        fresh = [lambda r=r: gather(table, r, out, shape) for r in sets]
        same = fresh[:1] * SETS
        for after, calls, before in (("same rows", same, None), ("other rows", fresh, None),
                                     ("other memory", fresh, lambda: half.sum())):
            bench.write({"kind": "gather", **shape, "after": after,
                         **summary(timed(bench, calls, before))})
        # The same rows as PyTorch reads and writes them.
        if shape["in_flight"] == 4:
            wide = table.view(all_rows, -1)
            bench.run("index_select", {k: shape[k] for k in ("table_bytes", "row_bytes",
                                                             "gathered_bytes")},
                      lambda: [lambda r=r: torch.index_select(wide, 0, r) for r in sets],
                      warm=True, most_calls=48)
