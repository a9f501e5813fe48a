"""Casts to fp8 as torch.compile writes them, with their kernels: one scale for a tensor, for each
row and each column, for each 128 elements (`block`) or each 128 x 128 (`square`). Each gives the
matrix as it lies and transposed (steps.py, CASTS)."""
import random

from steps import CASTS
from timing import log_uniform, multiple


def measure(bench):
    rng = random.Random(90 + bench.seed)
    for _ in range(1 if bench.quick else 6):
        columns = rng.choice((2048, 4096, 8192, 14336))
        rows = multiple(log_uniform(rng, 1 << 22, 1 << 27) / columns, 256)
        for scaling in ("tensor", "row", "block", "square"):
            square = scaling == "square"
            cast = CASTS["block" if square else scaling]
            sets = min(8, bench.sets_for(4 * rows * columns))
            given = [bench.operand(rows, columns) for _ in range(sets)]
            bench.run("cast", {"scaling": scaling, "rows": rows, "columns": columns},
                      lambda: [lambda x=x: cast(x, square) for x in given])
