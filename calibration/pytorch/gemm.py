"""GEMMs of the library in bf16: random shapes, layers of models, batches."""
import random

import torch
import torch.nn.functional as F

from timing import log_uniform, multiple

# hidden, inner, columns of q, k and v: Llama 3 8B and 70B, Mixtral 8x7B, GPT-3, Qwen2 MoE
LAYERS = {"llama3_8b": (4096, 14336, 6144), "llama3_70b/8": (8192, 3584, 1280),
          "gpt3/8": (12288, 6144, 4608), "qwen2_moe": (3584, 2560, 4608)}


def shapes(bench):
    rng = random.Random(20 + bench.seed)
    drawn = []
    for i in range(12 if bench.quick else 170):
        m = int(log_uniform(rng, 1, 16384))
        if rng.random() < 0.5:
            m = multiple(m, 8) if m > 16 else m
        of = rng.choice((8, 64))
        n, k = (multiple(log_uniform(rng, 256, 16384), of) for _ in range(2))
        layout = rng.choice(("linear", "linear", "linear", "nn", "tn"))
        drawn.append({"m": m, "n": n, "k": k, "layout": layout, "from": "random"})
    for name, (hidden, inner, qkv) in LAYERS.items():
        for tokens in ((64,) if bench.quick else (1, 16, 64, 256, 1024, 4096)):
            for n, k in ((qkv, hidden), (2 * inner, hidden), (hidden, inner)):
                drawn.append({"m": tokens, "n": n, "k": k, "layout": "linear", "from": name})
    rng.shuffle(drawn)
    return drawn


def gemm(bench, m, n, k, layout, sets):
    calls = []
    if layout == "linear":    # y = x w^T
        x = bench.operand(m, k)
        for _ in range(sets):
            w = bench.operand(n, k)
            calls.append(lambda w=w: F.linear(x, w))
    elif layout == "nn":      # input gradient
        x = bench.operand(m, k)
        for _ in range(sets):
            w = bench.operand(k, n)
            calls.append(lambda w=w: torch.matmul(x, w))
    else:                     # weight gradient: sum over the k tokens
        x = bench.operand(k, m)
        for _ in range(sets):
            w = bench.operand(k, n)
            calls.append(lambda w=w: torch.matmul(x.t(), w))
    return calls


def batched(bench, batch, m, n, k, sets):
    x = bench.operand(batch, m, k)
    return [lambda w=bench.operand(batch, n, k): torch.bmm(x, w.transpose(1, 2))
            for _ in range(sets)]


def measure(bench):
    for shape in shapes(bench):
        m, n, k = shape["m"], shape["n"], shape["k"]
        bench.run("gemm", shape,
                  lambda: gemm(bench, m, n, k, shape["layout"], bench.sets_for(2 * n * k)))
    for shape in shapes(bench)[:3 if bench.quick else 36]:
        if 2 * (shape["n"] * shape["k"] + shape["m"] * shape["k"]) < 24 << 20:
            bench.run("gemm", shape, lambda: gemm(bench, shape["m"], shape["n"], shape["k"],
                                                  shape["layout"], 1), warm=True)
    rng = random.Random(21 + bench.seed)
    for _ in range(2 if bench.quick else 14):
        batch = rng.choice((2, 4, 8, 16, 32, 64))
        m, n, k = int(log_uniform(rng, 1, 2048)), *(multiple(log_uniform(rng, 128, 4096), 64)
                                                    for _ in range(2))
        bench.run("bmm", {"batch": batch, "m": m, "n": n, "k": k},
                  lambda: batched(bench, batch, m, n, k, bench.sets_for(2 * batch * n * k)))
