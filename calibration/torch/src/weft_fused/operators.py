"""Custom operators `weft_fused::...`: computation fused with its collective, for a process group.

    embedding_all_to_all(tables, indices, group)   pooled rows of this rank's tables, to the owners
                                                   of the samples
    gemv_all_reduce(w, x, group)                   y = sum over the ranks of W x
    gemm_all_to_all(a, b, group)                   rows of A B^T, to their destinations
    gemm_reduce_scatter(a, b, group)               sum over the ranks of A B^T, each a share of rows
    all_gather_gemm(shard, b, group)               A B^T, of all ranks' rows of A

`group` is a name: `torch.distributed.group.WORLD.group_name`. All ranks call with equal shapes, in
the same order, on one stream. `..._out(..., out, group)` of the all-to-alls and the all-reduce
store straight into the peers' `out` (weft_fused.empty); without `_out` these copy the result out
of a buffer that is used again. Not in CUDA graphs: the number of a run, which tells its flags from
others', is an argument of its kernel.

Each operator has a fake function, so that torch.compile takes it, and a gradient. Gradients are
made kernel by kernel: the harness has no fused kernels for them.
"""
import torch

from . import bulk, peers, shapes

SENDERS = 16   # WGs of all_gather_gemm that send: with four loads in flight they fill a link


def stream():
    return torch.cuda.current_stream().cuda_stream


def need_types(dtype, **tensors):
    for name, tensor in tensors.items():
        shapes.need(tensor.dtype == dtype, f"{name} is {tensor.dtype}; the kernel takes {dtype}")
        shapes.need(tensor.is_contiguous(), f"{name} is not contiguous")


def kernels():
    return torch.ops.weft_kernels


def elements(shape):
    count = 1
    for length in shape:
        count *= length
    return count


# ---- embedding + all-to-all

def embedding_shape(tables, indices, group):
    need_types(torch.float32, tables=tables)
    need_types(torch.int32, indices=indices)
    return shapes.embedding_all_to_all(tables.shape, indices.shape, peers.ranks_of(group))


def run_embedding(tables, indices, run, shape):
    rows = shapes.rows_per_wg(shape[1] * shape[2])
    kernels().embedding_all_to_all(tables, indices, run.data, run.flags, run.counters, run.me,
                                   run.number, rows, stream())


def embedding_all_to_all(tables: torch.Tensor, indices: torch.Tensor, group: str) -> torch.Tensor:
    shape = embedding_shape(tables, indices, group)
    run = peers.peers_of(group).run("embedding", 4 * elements(shape))
    run_embedding(tables, indices, run, shape)
    return run.view(shape, torch.float32).clone()


def embedding_all_to_all_out(tables: torch.Tensor, indices: torch.Tensor, out: torch.Tensor,
                             group: str) -> None:
    shape = embedding_shape(tables, indices, group)
    shapes.need(tuple(out.shape) == tuple(shape), f"out is {tuple(out.shape)}, not {shape}")
    run_embedding(tables, indices, peers.peers_of(group).run_into(out), shape)


def embedding_fake(tables, indices, group):
    return tables.new_empty(embedding_shape(tables, indices, group))


def embedding_gradient(gradient: torch.Tensor, indices: torch.Tensor, rows: int,
                       group: str) -> torch.Tensor:
    """Gradients of pooled rows go back to the tables' owners and are added, table by table."""
    samples, count, pooling = indices.shape
    back = bulk.exchange(gradient.contiguous(), group).view(samples, count, -1)
    dim = back.shape[2]
    result = back.new_zeros((count, rows, dim))
    for table in range(count):
        each = back[:, table].unsqueeze(1).expand(samples, pooling, dim).reshape(-1, dim)
        result[table].index_add_(0, indices[:, table].reshape(-1), each)
    return result


def embedding_gradient_fake(gradient, indices, rows, group):
    return gradient.new_empty((indices.shape[1], rows, gradient.shape[3]))


def embedding_setup(ctx, inputs, output):
    tables, indices, ctx.group = inputs
    ctx.rows = tables.shape[1]
    ctx.save_for_backward(indices)


def embedding_backward(ctx, gradient):
    (indices,) = ctx.saved_tensors
    back = torch.ops.weft_fused.embedding_gradient(gradient, indices, ctx.rows, ctx.group)
    return back, None, None


# ---- GEMV + all-reduce

def gemv_shape(w, x, group):
    need_types(torch.float16, w=w, x=x)
    return shapes.gemv_all_reduce(w.shape, x.shape, peers.ranks_of(group))


def run_gemv(w, x, run, results, parts):
    rows = shapes.rows_per_wg(w.shape[0] // run.count, most=16)
    kernels().gemv_all_reduce(w, x, results, parts, run.flags, run.counters, run.me, run.number,
                              rows, stream())


def gemv_all_reduce(w: torch.Tensor, x: torch.Tensor, group: str) -> torch.Tensor:
    (m,) = gemv_shape(w, x, group)
    run = peers.peers_of(group).run("gemv", 8 * m)  # y, then parts
    run_gemv(w, x, run, run.data, [p + 4 * m for p in run.data])
    return run.view((m,), torch.float32).clone()


def gemv_all_reduce_out(w: torch.Tensor, x: torch.Tensor, out: torch.Tensor, group: str) -> None:
    (m,) = gemv_shape(w, x, group)
    shapes.need(tuple(out.shape) == (m,), f"out is {tuple(out.shape)}, not {(m,)}")
    all_ = peers.peers_of(group)
    run = all_.run("gemv", 8 * m)
    run_gemv(w, x, run, all_.output(out).pointers, run.data)


def gemv_fake(w, x, group):
    return w.new_empty(gemv_shape(w, x, group), dtype=torch.float32)


def gemv_backward(ctx, gradient):
    """y is the same on all ranks, and so is its gradient: nothing is exchanged."""
    w, x = ctx.saved_tensors
    gradient = gradient.to(w.dtype)
    return torch.outer(gradient, x), w.t() @ gradient, None


# ---- GEMM + all-to-all, GEMM + reduce-scatter, all-gather + GEMM

def gemm_shape(which, a, b, group):
    need_types(torch.bfloat16, a=a, b=b)
    return which(a.shape, b.shape, peers.ranks_of(group))


def run_gemm_all_to_all(a, b, run):
    kernels().gemm_all_to_all(a, b, run.data, run.flags, run.counters, run.me, run.number, stream())


def gemm_all_to_all(a: torch.Tensor, b: torch.Tensor, group: str) -> torch.Tensor:
    shape = gemm_shape(shapes.gemm_all_to_all, a, b, group)
    run = peers.peers_of(group).run("gemm", 2 * elements(shape))
    run_gemm_all_to_all(a, b, run)
    return run.view(shape, torch.bfloat16).clone()


def gemm_all_to_all_out(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, group: str) -> None:
    shape = gemm_shape(shapes.gemm_all_to_all, a, b, group)
    shapes.need(tuple(out.shape) == tuple(shape), f"out is {tuple(out.shape)}, not {shape}")
    run_gemm_all_to_all(a, b, peers.peers_of(group).run_into(out))


def gemm_all_to_all_fake(a, b, group):
    return a.new_empty(gemm_shape(shapes.gemm_all_to_all, a, b, group))


def out_fake(*_):
    return None


def gemm_all_to_all_backward(ctx, gradient):
    a, b = ctx.saved_tensors
    back = torch.ops.weft_fused.exchange(gradient, ctx.group).view(a.shape[0], b.shape[0])
    return back @ b, back.t() @ a, None


def gemm_reduce_scatter(a: torch.Tensor, b: torch.Tensor, group: str) -> torch.Tensor:
    rows, n = gemm_shape(shapes.gemm_reduce_scatter, a, b, group)
    run = peers.peers_of(group).run("gemm", 2 * a.shape[0] * n)
    sums = a.new_empty((rows, n))
    kernels().gemm_reduce_scatter(a, b, sums, run.data, run.flags, run.counters, run.me,
                                  run.number, stream())
    return sums


def gemm_reduce_scatter_fake(a, b, group):
    return a.new_empty(gemm_shape(shapes.gemm_reduce_scatter, a, b, group))


def gemm_reduce_scatter_backward(ctx, gradient):
    a, b = ctx.saved_tensors
    all_ = torch.ops.weft_fused.gather_rows(gradient, ctx.group)
    return all_ @ b, all_.t() @ a, None


def all_gather_gemm(shard: torch.Tensor, b: torch.Tensor, group: str) -> torch.Tensor:
    m, n = gemm_shape(shapes.all_gather_gemm, shard, b, group)
    run = peers.peers_of(group).run("gather", 2 * m * shard.shape[1])
    c = shard.new_empty((m, n))
    kernels().all_gather_gemm(shard, b, c, run.data, run.flags, run.counters, run.me, run.number,
                              SENDERS, stream())
    return c


def all_gather_gemm_fake(shard, b, group):
    return shard.new_empty(gemm_shape(shapes.all_gather_gemm, shard, b, group))


def all_gather_gemm_backward(ctx, gradient):
    shard, b = ctx.saved_tensors
    own = torch.ops.weft_fused.scatter_sums(gradient @ b, ctx.group)
    return own, gradient.t() @ torch.ops.weft_fused.gather_rows(shard, ctx.group), None


# ---- collectives of gradients, as operators: torch.compile does not look into them

def exchange(x: torch.Tensor, group: str) -> torch.Tensor:
    return bulk.exchange(x.contiguous(), group)


def gather_rows(x: torch.Tensor, group: str) -> torch.Tensor:
    return bulk.gather_rows(x.contiguous(), group)


def gather_rows_fake(x, group):
    return x.new_empty((x.shape[0] * peers.ranks_of(group), *x.shape[1:]))


def scatter_sums(x: torch.Tensor, group: str) -> torch.Tensor:
    return bulk.scatter_sums(x.contiguous(), group)


def scatter_sums_fake(x, group):
    return x.new_empty((x.shape[0] // peers.ranks_of(group), *x.shape[1:]))


# ---- registration

def keep_matrices(ctx, inputs, output):
    *matrices, ctx.group = inputs
    ctx.save_for_backward(*matrices)


def exchange_fake(x, group):
    return torch.empty_like(x)


def can_register():
    """torch.library.custom_op is of PyTorch 2.4."""
    return hasattr(torch.library, "custom_op")


def register(function, fake, backward=None, setup=keep_matrices, mutates=()):
    if not can_register():
        return function
    made = torch.library.custom_op(f"weft_fused::{function.__name__}", function,
                                   mutates_args=mutates, device_types="cuda")
    made.register_fake(fake)
    if backward is not None:
        made.register_autograd(backward, setup_context=setup)
    return made


register(exchange, exchange_fake)
register(gather_rows, gather_rows_fake)
register(scatter_sums, scatter_sums_fake)
register(embedding_gradient, embedding_gradient_fake)
embedding_all_to_all = register(embedding_all_to_all, embedding_fake, embedding_backward,
                                embedding_setup)
gemv_all_reduce = register(gemv_all_reduce, gemv_fake, gemv_backward)
gemm_all_to_all = register(gemm_all_to_all, gemm_all_to_all_fake, gemm_all_to_all_backward)
gemm_reduce_scatter = register(gemm_reduce_scatter, gemm_reduce_scatter_fake,
                               gemm_reduce_scatter_backward)
all_gather_gemm = register(all_gather_gemm, all_gather_gemm_fake, all_gather_gemm_backward)
embedding_all_to_all_out = register(embedding_all_to_all_out, out_fake, mutates=("out",))
gemv_all_reduce_out = register(gemv_all_reduce_out, out_fake, mutates=("out",))
gemm_all_to_all_out = register(gemm_all_to_all_out, out_fake, mutates=("out",))
