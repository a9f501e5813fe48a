"""Sums of peers' parts, as fused_matmul_reduce_scatter adds them: over the first dimension."""
import random

from timing import log_uniform, multiple


def calls(bench, parts, rows, width):
    sets = []
    for _ in range(min(8, bench.sets_for(2 * parts * rows * width))):
        given = bench.operand(parts, rows, width)
        sets.append(lambda x=given: x.sum(dim=0))
    return sets


def measure(bench):
    rng = random.Random(70 + bench.seed)
    for parts in (2, 4, 8):
        for _ in range(2 if bench.quick else 8):
            width = rng.choice((1024, 2048, 4096, 5120, 8192, 16384))
            rows = multiple(log_uniform(rng, 1 << 18, 1 << 26) / width, 8)
            if bench.late():
                return
            bench.run("parts_sum", {"parts": parts, "rows": rows, "width": width},
                      lambda: calls(bench, parts, rows, width))
