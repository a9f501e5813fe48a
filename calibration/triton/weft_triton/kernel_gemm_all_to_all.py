"""GEMM + all-to-all: rows of C are grouped by the rank they are for, and stored there."""
import triton
import triton.language as tl

from .communication import flag_pointer, is_last, my_rank, peer_pointer, put, rank_count, wait
from .tiles import multiply, offsets, place


@triton.jit(do_not_specialize=["run"])
def gemm_all_to_all(a, b, context, counters, run, rows, N, K, BM: tl.constexpr, BN: tl.constexpr,
                    BK: tl.constexpr, GROUP: tl.constexpr, MIXED: tl.constexpr,
                    DESCRIPTORS: tl.constexpr):
    """Persistent. `rows` of C are for each rank; data: [source][row of mine][N].

    MIXED: ranks take turns as destinations, and the turn moves on from round to round, so that the
    links are used from the first to the last tile; else all of one rank after another's, own last.
    Nobody waits for a single tile, so a program arrives once, at its end, and the last one sets the
    flags of all ranks: no store is waited for before.
    """
    me = my_rank(context)
    ranks = rank_count(context)
    programs = tl.num_programs(0)
    down = rows // BM
    of_rank = down * (N // BN)
    round_ = programs // ranks * ranks
    for position in range(tl.program_id(0), of_rank * ranks, programs):
        if MIXED:
            step = (position + position // round_) % ranks
            index = position // ranks
        else:
            step = position // of_rank
            index = position % of_rank
        to = (me + 1 + step) % ranks
        tile_row, tile_column = place(index, down, N // BN, GROUP)
        acc = multiply(a, b, to * rows + tile_row * BM, tile_column * BN, K, BM, BN, BK,
                       DESCRIPTORS)
        at = offsets(me * rows + tile_row * BM, tile_column * BN, N, BM, BN)
        put(peer_pointer(context, to, tl.bfloat16) + at, acc.to(tl.bfloat16))
    if is_last(counters, programs):
        for to in range(0, ranks):
            tl.atomic_xchg(flag_pointer(context, to) + me, run, sem="release", scope="sys")
    if tl.program_id(0) == 0:
        for source in range(0, ranks):
            wait(flag_pointer(context, me) + source, run)
