"""Attention by scaled_dot_product_attention: flash and cuDNN, forward, backward, decoding."""
import random

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from timing import log_uniform, multiple

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def shapes(bench):
    rng = random.Random(30 + bench.seed)
    drawn = []
    while len(drawn) < (4 if bench.quick else 56):
        length = multiple(log_uniform(rng, 128, 16384), 64)
        heads = rng.choice((8, 16, 32, 40, 64))
        kv_heads = rng.choice([h for h in (1, 2, 4, 8, 16, 32, 40, 64) if heads % h == 0])
        batch = int(log_uniform(rng, 1, 32))
        dim = rng.choice((64, 128, 128))
        rows = batch * heads * length
        if 4 * rows * length * dim > 6e12 or rows * dim > 1 << 28:
            continue
        drawn.append({"batch": batch, "heads": heads, "kv_heads": kv_heads, "queries": length,
                      "keys": length, "head_dim": dim, "causal": rng.random() < 0.6})
    return drawn


def decoding(bench):
    rng = random.Random(31 + bench.seed)
    drawn = []
    while len(drawn) < (4 if bench.quick else 80):
        length = int(log_uniform(rng, 128, 32768))
        heads = rng.choice((8, 16, 32, 64))
        kv_heads = rng.choice([h for h in (1, 2, 4, 8, 16, 32, 64) if heads % h == 0])
        batch = int(log_uniform(rng, 1, 128))
        dim = rng.choice((64, 128, 128))
        if 4 * batch * kv_heads * length * dim > 1 << 30:
            continue
        drawn.append({"batch": batch, "heads": heads, "kv_heads": kv_heads, "queries": 1,
                      "keys": length, "head_dim": dim, "causal": False})
    return drawn


def inputs(bench, shape):
    b, d = shape["batch"], shape["head_dim"]
    q = bench.operand(b, shape["queries"], shape["heads"], d).transpose(1, 2)
    k, v = (bench.operand(b, shape["keys"], shape["kv_heads"], d).transpose(1, 2) for _ in range(2))
    return q, k, v


def forward(shape, q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=shape["causal"],
                                          enable_gqa=shape["heads"] != shape["kv_heads"])


def forward_calls(bench, shape):
    size = 4 * shape["batch"] * shape["kv_heads"] * shape["keys"] * shape["head_dim"]
    sets = [inputs(bench, shape) for _ in range(min(8, bench.sets_for(size))
                                                if shape["queries"] > 1 else bench.sets_for(size))]
    return [lambda s=s: forward(shape, *s) for s in sets]


def both_calls(bench, shape):
    """Forward and backward together: the backward pass is what is more."""
    calls = []
    for _ in range(2):
        q, k, v = (x.detach().requires_grad_(True) for x in inputs(bench, shape))
        out_gradient = bench.operand(shape["batch"], shape["queries"], shape["heads"],
                                     shape["head_dim"]).transpose(1, 2)

        def both(q=q, k=k, v=v, g=out_gradient):
            torch.autograd.grad(forward(shape, q, k, v), (q, k, v), g)
        calls.append(both)
    return calls


def measure(bench):
    for shape in shapes(bench):
        for name, backend in BACKENDS.items():
            with sdpa_kernel(backend):
                facts = {**shape, "backend": name}
                bench.run("attention", {**facts, "pass": "forward"},
                          lambda: forward_calls(bench, shape))
                bench.run("attention", {**facts, "pass": "both"}, lambda: both_calls(bench, shape))
    for i, shape in enumerate(decoding(bench)):
        for name, backend in BACKENDS.items():
            with sdpa_kernel(backend):
                bench.run("attention_decode", {**shape, "backend": name},
                          lambda: forward_calls(bench, shape))
