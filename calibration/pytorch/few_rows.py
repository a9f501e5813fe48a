"""fp8 GEMMs of few rows: with scales per block, which split k, and per row, which do not."""
import random

from low_precision import Fp8Pool, scaled
from timing import log_uniform, multiple

NAMED = [(m, n, k) for m in (16, 64, 256) for n in (1024, 2048, 4096)
         for k in (2048, 4096, 8192, 16384)]


def measure(bench):
    pool = Fp8Pool(bench)
    rng = random.Random(60 + bench.seed)
    shapes = list(NAMED) if bench.seed == 0 else []
    for _ in range(6 if bench.quick else 60):
        m = multiple(log_uniform(rng, 16, 256), 16)
        n, k = (multiple(log_uniform(rng, 512, 16384), 128) for _ in range(2))
        shapes.append((m, n, k))
    for i, (m, n, k) in enumerate(shapes):
        for scaling in ("block", "row") if i % 6 == 5 else ("block",):
            bench.run("gemm_fp8", {"m": m, "n": n, "k": k, "scaling": scaling},
                      lambda: scaled(pool, m, n, k, scaling, bench.sets_for(n * k)))
