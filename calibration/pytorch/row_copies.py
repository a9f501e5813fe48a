"""Rows put in another order, as layers of experts have them: forward and backward, by index.

Ways, each with what autograd does on the way back (`..._back`, from gradients of the rows that
were made to gradients of those that they were made of):

    copy           no order at all: the memory's speed
    index          x[i]; back: zeros, indices sorted, rows added up in their order
    index_select   x.index_select(0, i); back: zeros, index_add_
    gather         torch.gather along rows with i spread over columns; back: zeros, scatter_add_
    cat            parts of equally many rows put together; back is a view
    repeat         each row `copies` times in a row; back: their sums

`copies`: how often each row is taken. Besides: `sort`, argsort of so many indices, and `top_k`,
softmax of a router's scores and the `copies` best of 64 experts.
"""
import random

import torch

from timing import log_uniform, multiple

WAYS = ("copy", "index", "index_back", "index_select", "index_select_back", "gather",
        "gather_back", "cat", "repeat", "repeat_back", "sort", "top_k")
EXPERTS, PARTS = 64, 8


def taken(rows, copies):
    """Row numbers, each `copies` times, in random order."""
    return torch.arange(rows // copies, device="cuda").repeat(copies)[
        torch.randperm(rows, device="cuda")]


def call_of(way, bench, rows, width, copies):
    i = taken(rows, copies)
    source = rows // copies
    spread = i[:, None].expand(-1, width)
    if way == "sort":
        return lambda: torch.argsort(i)
    if way == "top_k":
        scores = bench.operand(source, EXPERTS)
        return lambda: torch.topk(torch.softmax(scores.float(), -1), copies)
    given = bench.operand(rows if way.endswith("_back") or way in ("copy", "cat") else source,
                          width)
    zeros = lambda: given.new_zeros(source, width)
    if way == "repeat":
        return lambda: given.repeat_interleave(copies, 0, output_size=rows)
    return {
        "copy": given.clone,
        "index": lambda: given[i],
        "index_back": lambda: torch._index_put_impl_(zeros(), [i], given, True, True),
        "index_select": lambda: given.index_select(0, i),
        "index_select_back": lambda: zeros().index_add_(0, i, given),
        "gather": lambda: torch.gather(given, 0, spread),
        "gather_back": lambda: zeros().scatter_add_(0, spread, given),
        "cat": lambda: torch.cat(given.chunk(PARTS)),
        "repeat_back": lambda: given.view(source, copies, width).sum(1),
    }[way]


def measure(bench):
    rng = random.Random(80 + bench.seed)
    for _ in range(2 if bench.quick else 10):
        width = rng.choice((1024, 2048, 4096, 5120, 7168))
        copies = rng.choice((1, 1, 2, 4, 8))
        rows = multiple(log_uniform(rng, 1 << 20, 1 << 28) / width, 64)
        for way in WAYS:
            if way.startswith("repeat") and copies == 1:
                continue
            facts = {"way": way, "rows": rows, "width": width, "copies": copies}
            sets = min(8, bench.sets_for(4 * rows * width))
            bench.run("row_copies", facts, lambda: [call_of(way, bench, rows, width, copies)
                                                   for _ in range(sets)])
