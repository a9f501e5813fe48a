"""GEMM + reduce-scatter: k is spread over the ranks, so each has a part of every sum."""
import triton
import triton.language as tl

from .communication import flag_pointer, my_rank, peer_pointer, put, rank_count, signal, wait
from .tiles import multiply, offsets, place


@triton.jit
def target(position, me, ranks, down, across, GROUP: tl.constexpr, PAIRED: tl.constexpr):
    """The owner of a tile, and its row and column among the owner's."""
    if PAIRED:
        row = position % (ranks * down)
        step = row // down
        tile_row = row % down
        tile_column = position // (ranks * down)
    else:
        step = position // (down * across)
        tile_row, tile_column = place(position % (down * across), down, across, GROUP)
    return (me + 1 + step) % ranks, tile_row, tile_column


@triton.jit(do_not_specialize=["run"])
def gemm_reduce_scatter(a, b, sums, context, run, rows, N, K, BM: tl.constexpr, BN: tl.constexpr,
                        BK: tl.constexpr, GROUP: tl.constexpr, PAIRED: tl.constexpr,
                        DESCRIPTORS: tl.constexpr):
    """Persistent. Data: parts [source][row of mine][N], of other ranks, in bf16.

    Others' tiles are stored at their owner; to own ones the others' parts are added while the sums
    are still in registers, so that the own part is never stored.

    Not PAIRED: all tiles of others come before the own ones, and a tile's flag is set only when the
    next one is multiplied: its stores have landed by then, and the release waits for nothing.
    PAIRED, for few rows: the tiles of all ranks in a column come together, so that B is read from
    memory once and not once for each rank; flags are set at once, as their tiles are soon wanted.
    A tile only waits for one that comes before it in its source's order, so no two wait for each
    other.
    """
    me = my_rank(context)
    ranks = rank_count(context)
    programs = tl.num_programs(0)
    across = N // BN
    down = rows // BM
    of_rank = down * across
    parts = peer_pointer(context, me, tl.bfloat16)
    flags = flag_pointer(context, me)
    flag = -1
    owner = 0
    for position in range(tl.program_id(0), of_rank * ranks, programs):
        to, tile_row, tile_column = target(position, me, ranks, down, across, GROUP, PAIRED)
        row = tile_row * BM
        column = tile_column * BN
        index = tile_row * across + tile_column
        acc = multiply(a, b, to * rows + row, column, K, BM, BN, BK, DESCRIPTORS)
        if flag >= 0:
            signal(flag_pointer(context, owner) + flag, run)
            flag = -1
        if to == me:
            for step in range(1, ranks):
                source = (me + step) % ranks
                wait(flags + source * of_rank + index, run)
                at = offsets(source * rows + row, column, N, BM, BN)
                acc += tl.load(parts + at).to(tl.float32)
            tl.store(sums + offsets(row, column, N, BM, BN), acc.to(tl.bfloat16))
        else:
            at = offsets(me * rows + row, column, N, BM, BN)
            put(peer_pointer(context, to, tl.bfloat16) + at, acc.to(tl.bfloat16))
            flag = me * of_rank + index
            owner = to
            if PAIRED:
                signal(flag_pointer(context, owner) + flag, run)
                flag = -1
    if flag >= 0:
        signal(flag_pointer(context, owner) + flag, run)
