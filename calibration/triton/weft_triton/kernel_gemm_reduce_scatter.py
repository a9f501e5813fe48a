"""GEMM + reduce-scatter: k is spread over the ranks, so each has a part of every sum."""
import triton
import triton.language as tl

from .communication import flag_pointer, my_rank, peer_pointer, put, rank_count, signal, wait
from .tiles import multiply, offsets, place


@triton.jit(do_not_specialize=["run"])
def gemm_reduce_scatter(a, b, sums, context, run, rows, N, K, BM: tl.constexpr, BN: tl.constexpr,
                        BK: tl.constexpr, GROUP: tl.constexpr, DESCRIPTORS: tl.constexpr):
    """Persistent. Data: parts [source][row of mine][N], of other ranks, in bf16.

    First the tiles of other ranks, each stored at its owner. Its flag is set only when the next
    tile is multiplied: the stores have landed by then, and the release has nothing to wait for.
    Then the own tiles; the others' parts are added while the sums are still in registers, and the
    own part is never stored.
    """
    me = my_rank(context)
    ranks = rank_count(context)
    programs = tl.num_programs(0)
    across = N // BN
    down = rows // BM
    of_rank = down * across
    remote = of_rank * (ranks - 1)
    flag = -1
    owner = 0
    for position in range(tl.program_id(0), remote, programs):
        to = (me + 1 + position // of_rank) % ranks
        index = position % of_rank
        tile_row, tile_column = place(index, down, across, GROUP)
        acc = multiply(a, b, to * rows + tile_row * BM, tile_column * BN, K, BM, BN, BK,
                       DESCRIPTORS)
        if flag >= 0:
            signal(flag_pointer(context, owner) + flag, run)
        at = offsets(me * rows + tile_row * BM, tile_column * BN, N, BM, BN)
        put(peer_pointer(context, to, tl.bfloat16) + at, acc.to(tl.bfloat16))
        flag = me * of_rank + index
        owner = to
    if flag >= 0:
        signal(flag_pointer(context, owner) + flag, run)
    parts = peer_pointer(context, me, tl.bfloat16)
    flags = flag_pointer(context, me)
    # The programs go on in turn: the one after the last remote tile takes the first own one.
    first = (tl.program_id(0) + programs - remote % programs) % programs
    for index in range(first, of_rank, programs):
        tile_row, tile_column = place(index, down, across, GROUP)
        acc = multiply(a, b, me * rows + tile_row * BM, tile_column * BN, K, BM, BN, BK,
                       DESCRIPTORS)
        for step in range(1, ranks):
            source = (me + step) % ranks
            wait(flags + source * of_rank + index, run)
            at = offsets(source * rows + tile_row * BM, tile_column * BN, N, BM, BN)
            acc += tl.load(parts + at).to(tl.float32)
        at = offsets(tile_row * BM, tile_column * BN, N, BM, BN)
        tl.store(sums + at, acc.to(tl.bfloat16))
