"""fp8 GEMMs (per tensor, per row, per block) and grouped GEMMs (bf16 and fp8 per row)."""
import random

import torch

from timing import log_uniform, multiple

F8 = torch.float8_e4m3fn
BF16 = torch.bfloat16


class Fp8Pool:
    def __init__(self, bench):
        self.values = torch.empty(1 << 30, dtype=F8, device="cuda")
        for part in range(0, 1 << 30, 1 << 27):
            self.values[part:part + (1 << 27)] = bench.pool[part:part + (1 << 27)].to(F8)
        self.at = 0

    def operand(self, *shape):
        size = torch.Size(shape).numel()
        if self.at + size > self.values.numel():
            self.at = 0
        view = self.values[self.at:self.at + size].view(*shape)
        self.at += (size + 255) // 256 * 256
        return view


def scales(scaling, m, n, k):
    ones = lambda *shape: torch.ones(*shape, dtype=torch.float32, device="cuda")
    if scaling == "tensor":
        return ones(()), ones(())
    if scaling == "row":
        return ones(m, 1), ones(1, n)
    return ones(k // 128, m).t(), ones(n // 128, k // 128).t()   # 1 x 128 and 128 x 128


def scaled(pool, m, n, k, scaling, sets):
    a = pool.operand(m, k)
    scale_a, scale_b = scales(scaling, m, n, k)
    return [lambda b=pool.operand(n, k): torch._scaled_mm(a, b.t(), scale_a, scale_b,
                                                         out_dtype=BF16,
                                                         use_fast_accum=scaling != "block")
            for _ in range(sets)]


def ends(rng, tokens, experts, uneven):
    if not uneven:
        return [tokens * (e + 1) // experts for e in range(experts)]
    cuts = [rng.expovariate(1) ** 1.5 for _ in range(experts)]
    total = sum(cuts)
    at, found = 0.0, []
    for cut in cuts:
        at += cut
        found.append(int(tokens * at / total) // 16 * 16)
    found[-1] = tokens
    return found


def grouped(bench, tokens, experts, n, k, offsets, sets):
    a = bench.operand(tokens, k)
    ends_ = torch.tensor(offsets, dtype=torch.int32, device="cuda")
    return [lambda w=bench.operand(experts, n, k):
            torch._grouped_mm(a, w.transpose(1, 2), offs=ends_) for _ in range(sets)]


def grouped_weight_gradient(bench, tokens, experts, n, k, offsets):
    ends_ = torch.tensor(offsets, dtype=torch.int32, device="cuda")
    return [lambda a=bench.operand(tokens, n), b=bench.operand(tokens, k):
            torch._grouped_mm(a.t(), b, offs=ends_) for _ in range(4)]


def grouped_fp8(pool, tokens, experts, n, k, offsets, sets):
    a = pool.operand(tokens, k)
    ends_ = torch.tensor(offsets, dtype=torch.int32, device="cuda")
    scale_a = torch.ones(tokens, device="cuda")
    scale_b = torch.ones(experts, n, device="cuda")
    return [lambda w=pool.operand(experts, n, k): torch._scaled_grouped_mm(
        a, w.transpose(1, 2), scale_a, scale_b, offs=ends_, out_dtype=BF16, use_fast_accum=True)
        for _ in range(sets)]


def measure(bench):
    pool = Fp8Pool(bench)
    rng = random.Random(40 + bench.seed)
    for i in range(6 if bench.quick else 66):
        scaling = ("tensor", "row", "block")[i % 3]
        m = multiple(log_uniform(rng, 16, 16384), 16)
        n, k = (multiple(log_uniform(rng, 512, 16384), 128) for _ in range(2))
        bench.run("gemm_fp8", {"m": m, "n": n, "k": k, "scaling": scaling},
                  lambda: scaled(pool, m, n, k, scaling, bench.sets_for(n * k)))
    for i in range(6 if bench.quick else 60):
        experts = rng.choice((2, 4, 8, 16, 32, 64))
        tokens = multiple(experts * log_uniform(rng, 16, 4096), 16)
        n, k = (multiple(log_uniform(rng, 512, 8192), 128) for _ in range(2))
        if experts * n * k * 2 > 1 << 30 or tokens * max(n, k) * 2 > 1 << 30:
            continue
        uneven = i % 2 == 1
        offsets = ends(rng, tokens, experts, uneven)
        each = [b - a for a, b in zip([0] + offsets, offsets)]
        facts = {"tokens": tokens, "experts": experts, "n": n, "k": k, "uneven": uneven,
                 "most_tokens": max(each)}
        if uneven:
            facts["by_expert"] = " ".join(map(str, each))
        if i % 3 < 2:
            bench.run("grouped_gemm", {**facts, "dtype": "bf16"}, lambda: grouped(
                bench, tokens, experts, n, k, offsets, bench.sets_for(2 * experts * n * k)))
        else:
            bench.run("grouped_gemm", {**facts, "dtype": "fp8"}, lambda: grouped_fp8(
                pool, tokens, experts, n, k, offsets, min(8, bench.sets_for(experts * n * k))))
        if i % 4 == 0:
            bench.run("grouped_gemm_weight_gradient", {**facts, "dtype": "bf16"},
                      lambda: grouped_weight_gradient(bench, tokens, experts, n, k, offsets))
