"""Grouped GEMMs of few elements of k, and weights' gradients of experts with as many tokens, which
are the same products: how much of k a kernel multiplies at least."""
from low_precision import grouped, grouped_weight_gradient

EXPERTS = (2, 8, 32)
SIDES = ((2048, 2048), (1024, 4096))
SHORT = (16, 32, 64, 128, 256, 512, 1024)
MOST_BYTES = 1 << 30


def measure(bench):
    for experts in EXPERTS:
        for n, k in SIDES:
            for each in SHORT[:2] if bench.quick else SHORT:
                facts = {"experts": experts, "uneven": False, "dtype": "bf16"}
                ends = [each * (e + 1) for e in range(experts)]
                bench.run("grouped_gemm_weight_gradient",
                          {**facts, "tokens": each * experts, "most_tokens": each, "n": n, "k": k},
                          lambda: grouped_weight_gradient(bench, each * experts, experts, n, k,
                                                          ends))
                if n * experts * each * 2 >= MOST_BYTES:
                    continue
                ends = [n * (e + 1) for e in range(experts)]
                bench.run("grouped_gemm",
                          {**facts, "tokens": n * experts, "most_tokens": n, "n": k, "k": each},
                          lambda: grouped(bench, n * experts, experts, k, each, ends, 4))
