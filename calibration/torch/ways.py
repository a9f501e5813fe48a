"""Each operator in each way: a dict of calls that leave the same result, by name.

    compute, comm        bulk's kernel, and its collective, alone
    bulk                 PyTorch's kernel, then NCCL's (or RCCL's) collective
    chunked_2, _4        in so many chunks: the collective of one concurrent with the kernel of the
                         next, on a stream of its own
    pytorch              torch.ops.symm_mem: peer by peer with copy engines, on two streams
    hip                  this harness's fused kernel; hip_copy: and the copy out of its buffer
    hip_bulk             this harness's kernel alone, then the collective (embedding)
    triton               this folder's neighbour; triton_engine: copy engines send the shard
"""
import torch
import torch.distributed as dist
import torch.nn.functional as F
import weft_fused
from weft_fused import bulk, operators, peers


class Way:
    """`call` runs it; `result` is what it left, or gives it."""

    def __init__(self, call, result=None):
        self.call, self.result = call, result


def random_bf16(*shape, scale=1.0):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16) * scale


class Overlap:
    """Chunk after chunk: `compute(i)` on this stream, `collect(i)` on another."""

    def __init__(self):
        self.beside = torch.cuda.Stream()

    def produce(self, chunks, compute, collect):
        for i in range(chunks):
            compute(i)
            self.beside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.beside):
                collect(i)
        torch.cuda.current_stream().wait_stream(self.beside)

    def consume(self, chunks, collect, compute):
        self.beside.wait_stream(torch.cuda.current_stream())
        for i in range(chunks):
            with torch.cuda.stream(self.beside):
                collect(i)
                here = torch.cuda.Event()
                here.record()
            torch.cuda.current_stream().wait_event(here)
            compute(i)


def emb(shape, group, overlap):
    ranks, me = dist.get_world_size(), dist.get_rank()
    batch, count, dim = shape["batch"], shape["tables"], shape["dim"]
    rows, pooling = shape["rows_per_table"], shape["pooling"]
    torch.manual_seed(7 + me)
    tables = torch.rand(count, rows, dim, device="cuda") - 0.5
    indices = torch.randint(rows, (batch, count, pooling), device="cuda", dtype=torch.int32)
    flat, weights = bulk.flat_indices(indices, rows), tables.view(count * rows, dim)
    size = (ranks, batch // ranks, count, dim)
    pooled, out = torch.empty(size, device="cuda"), torch.empty(size, device="cuda")
    straight = weft_fused.empty(size, torch.float32, group)
    slices = weft_fused.shapes.rows_per_wg(batch // ranks * count)

    def exchange():
        dist.all_to_all_single(out, pooled)

    def compute():
        return F.embedding_bag(flat, weights, mode="sum")

    def whole():
        dist.all_to_all_single(out, compute().view(size))

    def own():
        torch.ops.weft_kernels.pooled_embedding(tables, indices, pooled, slices,
                                                operators.stream())

    def own_bulk():
        own()
        exchange()
    ways = {"compute": Way(compute), "hip_compute": Way(own), "comm": Way(exchange),
            "bulk": Way(whole, out), "hip_bulk": Way(own_bulk, out),
            "hip": Way(lambda: operators.embedding_all_to_all_out(tables, indices, straight,
                                                                  group), straight),
            "hip_copy": Way(lambda: weft_fused.embedding_all_to_all(tables, indices, group))}
    for chunks in (2, 4):
        if batch // ranks % chunks:
            continue
        part = batch // ranks // chunks
        order = flat.view(ranks, chunks, part * count, pooling).transpose(0, 1).contiguous()

        def chunked(chunks=chunks, part=part, order=order):
            made = [None] * chunks

            def make(i):
                made[i] = F.embedding_bag(order[i].view(-1, pooling), weights, mode="sum")

            def send(i):
                dist.all_to_all([o[i * part:(i + 1) * part] for o in out],
                                list(made[i].view(ranks, part, count, dim)))
            overlap.produce(chunks, make, send)
        ways[f"chunked_{chunks}"] = Way(chunked, out)
    return ways, 1e-5


def gemv(shape, group, overlap, every=False):
    from weft_triton import operators as written_in_triton
    m, k = shape["m"], shape["k"]
    torch.manual_seed(7 + dist.get_rank())
    w = torch.randn(m, k, device="cuda", dtype=torch.float16)
    x = torch.randn(k, device="cuda", dtype=torch.float16) / 64
    y = torch.empty(m, device="cuda", dtype=torch.float16)
    straight = weft_fused.empty((m,), torch.float32, group)

    def compute():
        torch.mv(w, x, out=y)

    def whole():
        compute()
        dist.all_reduce(y)
    ways = {"compute": Way(compute), "comm": Way(lambda: dist.all_reduce(y)),
            "bulk": Way(whole, y),
            "hip": Way(lambda: weft_fused.gemv_all_reduce_out(w, x, straight, group), straight),
            "hip_copy": Way(lambda: weft_fused.gemv_all_reduce(w, x, group))}
    for name, config in ({"triton": None} if not every else {
            f"triton {n}": c for n, c in written_in_triton.NAMED_GEMV.items()}).items():
        ways[name] = Way(lambda config=config: written_in_triton.gemv_all_reduce(
            w, x, group, config=config))
    for chunks in (2, 4):
        parts = m // chunks

        def chunked(chunks=chunks, parts=parts):
            overlap.produce(
                chunks, lambda i: torch.mv(w[i * parts:(i + 1) * parts], x,
                                           out=y[i * parts:(i + 1) * parts]),
                lambda i: dist.all_reduce(y[i * parts:(i + 1) * parts]))
        ways[f"chunked_{chunks}"] = Way(chunked, y)
    return ways, 2e-3


def configurations(every):
    from weft_triton import operators as written_in_triton
    if not every:
        return {"triton": None}
    return {f"triton {name}": config for name, config in written_in_triton.NAMED.items()}


def gemm(shape, group, overlap, every=False):
    from weft_triton import operators as written_in_triton
    ranks = dist.get_world_size()
    m, n, k = shape["m"], shape["n"], shape["k"]
    torch.manual_seed(7 + dist.get_rank())
    a, b = random_bf16(m, k), random_bf16(n, k, scale=0.02)
    rows = m // ranks
    c, out = (torch.empty(ranks, rows, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    straight = weft_fused.empty((ranks, rows, n), torch.bfloat16, group)

    def compute():
        torch.mm(a, b.t(), out=c.view(m, n))

    def exchange():
        dist.all_to_all_single(out, c)

    def whole():
        compute()
        exchange()
    ways = {"compute": Way(compute), "comm": Way(exchange), "bulk": Way(whole, out),
            "hip": Way(lambda: operators.gemm_all_to_all_out(a, b, straight, group), straight),
            "hip_copy": Way(lambda: weft_fused.gemm_all_to_all(a, b, group))}
    for name, config in configurations(every).items():
        ways[name] = Way(lambda config=config: written_in_triton.gemm_all_to_all(
            a, b, group, out=straight, config=config), straight)
    for chunks in (2, 4):
        part = rows // chunks

        def chunked(chunks=chunks, part=part):
            of = lambda i: slice(i * part, (i + 1) * part)

            def make(i):
                for to in range(ranks):
                    torch.mm(a[to * rows:][of(i)], b.t(), out=c[to, of(i)])

            def send(i):
                dist.all_to_all([o[of(i)] for o in out], [x[of(i)] for x in c])
            overlap.produce(chunks, make, send)
        ways[f"chunked_{chunks}"] = Way(chunked, out)
    return ways, 5e-3


def gemm_rs(shape, group, overlap, every=False):
    from weft_triton import operators as written_in_triton
    ranks = dist.get_world_size()
    m, n, k = shape["m"], shape["n"], shape["k"]
    torch.manual_seed(7 + dist.get_rank())
    a, b = random_bf16(m, k), random_bf16(n, k, scale=0.02)
    rows = m // ranks
    c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    out = torch.empty(rows, n, device="cuda", dtype=torch.bfloat16)

    def compute():
        torch.mm(a, b.t(), out=c)

    def collect():
        dist.reduce_scatter_tensor(out, c)

    def whole():
        compute()
        collect()
    ways = {"compute": Way(compute), "comm": Way(collect), "bulk": Way(whole, out),
            "pytorch": Way(lambda: torch.ops.symm_mem.fused_matmul_reduce_scatter(
                a, b.t(), "sum", 0, group)),
            "hip": Way(lambda: weft_fused.gemm_reduce_scatter(a, b, group))}
    for name, config in configurations(every).items():
        ways[name] = Way(lambda config=config: written_in_triton.gemm_reduce_scatter(
            a, b, group, config=config))
    for chunks in (2, 4):
        part = rows // chunks
        space = c.view(chunks, ranks, part, n)

        def chunked(chunks=chunks, part=part, space=space):
            def make(i):
                for to in range(ranks):
                    at = to * rows + i * part
                    torch.mm(a[at:at + part], b.t(), out=space[i, to])

            def send(i):
                dist.reduce_scatter_tensor(out[i * part:(i + 1) * part],
                                           space[i].view(ranks * part, n))
            overlap.produce(chunks, make, send)
        ways[f"chunked_{chunks}"] = Way(chunked, out)
    return ways, 5e-3


def ag_gemm(shape, group, overlap, every=False):
    from weft_triton import operators as written_in_triton
    ranks = dist.get_world_size()
    m, n, k = shape["m"], shape["n"], shape["k"]
    torch.manual_seed(7 + dist.get_rank())
    rows = m // ranks
    shard, b = random_bf16(rows, k), random_bf16(n, k, scale=0.02)
    a = torch.empty(m, k, device="cuda", dtype=torch.bfloat16)
    c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)

    def compute():
        torch.mm(a, b.t(), out=c)

    def collect():
        dist.all_gather_into_tensor(a, shard)

    def whole():
        collect()
        compute()
    ways = {"comm": Way(collect), "compute": Way(compute), "bulk": Way(whole, c),
            "pytorch": Way(lambda: torch.ops.symm_mem.fused_all_gather_matmul(
                shard, [b.t()], 0, group, return_A=False)[1][0]),
            "hip": Way(lambda: weft_fused.all_gather_gemm(shard, b, group))}
    for name, config in configurations(every).items():
        ways[name] = Way(lambda config=config: written_in_triton.all_gather_gemm(
            shard, b, group, config=config))
        ways[name + "_engine"] = Way(lambda config=config: written_in_triton.all_gather_gemm(
            shard, b, group, by="engine", config=config))
    for chunks in (2, 4):
        part = rows // chunks
        space = a.view(chunks, ranks, part, k)

        def chunked(chunks=chunks, part=part, space=space):
            def collect_part(i):
                dist.all_gather_into_tensor(space[i].view(ranks * part, k),
                                            shard[i * part:(i + 1) * part])

            def make(i):
                for source in range(ranks):
                    at = source * rows + i * part
                    torch.mm(space[i, source], b.t(), out=c[at:at + part])
            overlap.consume(chunks, collect_part, make)
        ways[f"chunked_{chunks}"] = Way(chunked, c)
    return ways, 5e-3


WAYS = {"emb": emb, "gemv": gemv, "gemm": gemm, "gemm_rs": gemm_rs, "ag_gemm": ag_gemm}


def forget_outputs():
    """The shapes before used symmetric memory that none after them needs."""
    for all_ in peers._peers.values():
        all_.outputs.clear()
