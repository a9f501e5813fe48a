"""Pooled lookups: PyTorch's embedding_bag, table by table; a table-batched kernel (kernels.cu)."""
import random

import torch
import torch.nn.functional as F

from kernels import i32, i64, launch
from timing import log_uniform, multiple


def shapes(bench):
    rng = random.Random(60 + bench.seed)
    point = {"tables": 16, "rows_per_table": 1000000, "dim": 128, "pooling": 32, "samples": 8192,
             "dtype_bytes": 2}
    drawn = [point, {**point, "rows_per_table": 100000}, {**point, "samples": 1024}]
    while len(drawn) < (4 if bench.quick else 33):
        tables = rng.choice((1, 2, 4, 8, 16, 32))
        rows = int(log_uniform(rng, 10000, 4e6))
        dim = rng.choice((32, 64, 128, 256))
        size = rng.choice((2, 2, 4))
        samples = multiple(log_uniform(rng, 256, 16384), 64)
        pooling = int(log_uniform(rng, 1, 128))
        if tables * rows * dim * size > 20e9 or tables * samples * pooling * dim * size > 4e9:
            continue
        drawn.append({"tables": tables, "rows_per_table": rows, "dim": dim, "pooling": pooling,
                      "samples": samples, "dtype_bytes": size})
    return drawn


def operands(shape):
    dtype = torch.float16 if shape["dtype_bytes"] == 2 else torch.float32
    weights = torch.empty(shape["tables"], shape["rows_per_table"], shape["dim"], dtype=dtype,
                          device="cuda").uniform_(-1, 1)
    indices = [torch.randint(shape["rows_per_table"],
                             (shape["tables"], shape["samples"], shape["pooling"]), device="cuda")
               for _ in range(3)]
    return weights, indices


def bags(weights, indices):
    for table, index in zip(weights, indices):
        F.embedding_bag(index, table, mode="sum")


def bags_backward(weights, indices, gradient):
    """Forward and backward; the gradient of a table is dense, as PyTorch makes it by default."""
    for table, index in zip(weights, indices):
        torch.autograd.grad(F.embedding_bag(index, table, mode="sum"), table, gradient)


def table_batched(weights, indices, out, shape, in_flight):
    launch("run_pooled", weights, indices, out, i32(shape["tables"]), i32(shape["samples"]),
           i32(shape["pooling"]), i64(shape["rows_per_table"]), i32(in_flight))


def check(weights, indices, out, shape):
    table_batched(weights, indices, out.fill_(float("nan")), shape, 4)
    expected = torch.stack([F.embedding_bag(i, w, mode="sum") for i, w in zip(indices, weights)])
    error = (out.float() - expected.float()).norm() / expected.float().norm()
    if not error < 2e-3:
        raise RuntimeError(f"table-batched lookups are wrong: {error}")


def measure(bench):
    for number, shape in enumerate(shapes(bench)):
        if bench.late():
            return
        weights, indices = operands(shape)
        bench.run("embedding_bag", {**shape, "pass": "forward"},
                  lambda: [lambda i=i: bags(weights, i) for i in indices], most_calls=12)
        if shape["dim"] == 128 and shape["dtype_bytes"] == 2:
            out = torch.empty(shape["tables"], shape["samples"], 128, dtype=torch.float16,
                              device="cuda")
            check(weights, indices[0], out, shape)
            for in_flight in (1, 4, 8):
                bench.run("table_batched", {**shape, "in_flight": in_flight, "pass": "forward"},
                          lambda: [lambda i=i: table_batched(weights, i, out, shape, in_flight)
                                   for i in indices], most_calls=12)
        if number % 3 == 0 and weights.numel() * shape["dtype_bytes"] < 6e9:
            tables = [w.requires_grad_(True) for w in weights]
            gradient = torch.ones(shape["samples"], shape["dim"], dtype=weights.dtype,
                                  device="cuda")
            bench.run("embedding_bag", {**shape, "pass": "both"},
                      lambda: [lambda i=i: bags_backward(tables, i, gradient) for i in indices[:2]],
                      most_calls=4)
        del weights, indices
