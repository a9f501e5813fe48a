"""The same operators kernel by kernel: PyTorch's computation, then its collective. They take and
give what operators.py does, so that one argument of a layer switches between both."""
import torch
import torch.distributed as dist
import torch.nn.functional as F

from .peers import process_group


def exchange(x, group):
    """Block i of the first dimension goes to rank i."""
    out = torch.empty_like(x)
    dist.all_to_all_single(out, x, group=process_group(group))
    return out


def gather_rows(x, group):
    out = x.new_empty((x.shape[0] * process_group(group).size(), *x.shape[1:]))
    dist.all_gather_into_tensor(out, x, group=process_group(group))
    return out


def scatter_sums(x, group):
    out = x.new_empty((x.shape[0] // process_group(group).size(), *x.shape[1:]))
    dist.reduce_scatter_tensor(out, x, group=process_group(group))
    return out


def flat_indices(indices, rows_per_table):
    """Of all tables as one: (sample x table, pooling)."""
    samples, tables, pooling = indices.shape
    first = torch.arange(tables, device=indices.device, dtype=indices.dtype) * rows_per_table
    return (indices + first[None, :, None]).view(samples * tables, pooling)


def embedding_all_to_all(tables, indices, group):
    count, rows, dim = tables.shape
    ranks = process_group(group).size()
    pooled = F.embedding_bag(flat_indices(indices, rows), tables.view(count * rows, dim),
                             mode="sum")
    return exchange(pooled.view(ranks, indices.shape[0] // ranks, count, dim), group)


def gemv_all_reduce(w, x, group):
    y = torch.mv(w, x)
    dist.all_reduce(y, group=process_group(group))
    return y.float()


def gemm_all_to_all(a, b, group):
    ranks = process_group(group).size()
    return exchange((a @ b.t()).view(ranks, a.shape[0] // ranks, b.shape[0]), group)


def gemm_reduce_scatter(a, b, group):
    return scatter_sums(a @ b.t(), group)


def all_gather_gemm(shard, b, group):
    return gather_rows(shard, group) @ b.t()
