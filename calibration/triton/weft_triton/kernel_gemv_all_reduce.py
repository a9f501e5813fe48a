"""GEMV + all-reduce: y = W x, W in half precision and spread over the ranks by columns."""
import triton
import triton.language as tl

from .communication import (flag_pointer, my_rank, peer_pointer, put, put_signal, rank_count,
                            wait)


@triton.jit(do_not_specialize=["run"])
def gemv_all_reduce(w, x, y, context, run, M, K, BM: tl.constexpr, BK: tl.constexpr,
                    STAGES: tl.constexpr):
    """Data: parts [source][row], float32. In one phase: each block of rows goes to all others at
    once, and each rank adds all parts in the same order. That is one flag's way fewer than by an
    owner, and no more bytes for two ranks; for more ranks it is M x ranks floats a rank."""
    me = my_rank(context)
    ranks = rank_count(context)
    blocks = M // BM
    programs = tl.num_programs(0)
    inner = tl.arange(0, BK)
    for block in range(tl.program_id(0), blocks, programs):
        rows = block * BM + tl.arange(0, BM)
        at = w + rows.to(tl.int64)[:, None] * K + inner[None, :]
        acc = tl.zeros((BM, BK), dtype=tl.float32)
        for k in tl.range(0, K, BK, num_stages=STAGES):
            in_row = inner < K - k
            words = tl.load(at + k, mask=in_row[None, :], other=0.0)
            acc += words.to(tl.float32) * tl.load(x + k + inner, mask=in_row,
                                                  other=0.0).to(tl.float32)[None, :]
        part = tl.sum(acc, axis=1)
        put(peer_pointer(context, me, tl.float32) + me * M + rows, part)
        for step in range(1, ranks):
            to = (me + step) % ranks
            put_signal(peer_pointer(context, to, tl.float32) + me * M + rows, part,
                       flag_pointer(context, to) + me * blocks + block, run)
    tl.debug_barrier()  # this program's own parts have no flag
    parts = peer_pointer(context, me, tl.float32)
    flags = flag_pointer(context, me)
    for block in range(tl.program_id(0), blocks, programs):
        rows = block * BM + tl.arange(0, BM)
        total = tl.zeros((BM,), dtype=tl.float32)
        for source in range(0, ranks):
            if source != me:
                wait(flags + source * blocks + block, run)
            total += tl.load(parts + source * M + rows)
        tl.store(y + rows, total)
