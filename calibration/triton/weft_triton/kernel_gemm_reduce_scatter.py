"""GEMM + reduce-scatter: k is spread over the ranks, so each has a part of every sum."""
import triton
import triton.language as tl

from .communication import flag_pointer, my_rank, peer_pointer, put, rank_count, signal, wait
from .tiles import added, keep, multiply, offsets, place, stretch


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


@triton.jit
def finish(values, context, sums, to, me, ranks, rows, row, column, N, ROWS: tl.constexpr,
           BN: tl.constexpr):
    """ROWS rows of a tile: another's go there, to mine all others' parts are added."""
    if to == me:
        parts = peer_pointer(context, me, tl.bfloat16)
        for step in range(1, ranks):
            source = (me + step) % ranks
            at = offsets(source * rows + row, column, N, ROWS, BN)
            values += tl.load(parts + at).to(tl.float32)
        tl.store(sums + offsets(row, column, N, ROWS, BN), values.to(tl.bfloat16))
    else:
        at = offsets(me * rows + row, column, N, ROWS, BN)
        put(peer_pointer(context, to, tl.bfloat16) + at, values.to(tl.bfloat16))


@triton.jit(do_not_specialize=["run", "whole", "divided", "sharers"])
def gemm_reduce_scatter(a, b, sums, context, scratch, pieces, run, rows, N, K, whole, divided,
                        sharers, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                        GROUP: tl.constexpr, PAIRED: tl.constexpr, DESCRIPTORS: tl.constexpr,
                        ROWS: tl.constexpr):
    """Persistent. Data: parts [source][row of mine][N], of other ranks, in bf16.

    Others' tiles are stored at their owner; to own ones the others' parts are added while the sums
    are still in registers, so that the own part is never stored. `whole` tiles are made by one
    program each, `divided` by `sharers` together.

    Not PAIRED: all tiles of others come before the own ones, and a tile's flag is set only when the
    next one is multiplied: its stores have landed by then, and the release waits for nothing.
    PAIRED, for few rows: the tiles of all ranks in a column come together, so that B is read from
    memory once and not once for each rank; flags are set at once, as their tiles are soon wanted.
    """
    me = my_rank(context)
    ranks = rank_count(context)
    program = tl.program_id(0)
    programs = tl.num_programs(0)
    across = N // BN
    down = rows // BM
    of_rank = down * across
    steps = K // BK
    own_flags = flag_pointer(context, me)
    rounds = (whole + programs - 1) // programs
    flag = -1
    owner = 0
    for turn in range(0, rounds + 2):
        position = program + turn * programs
        piece = turn - rounds
        first = 0
        last = 0
        tile = 0
        if turn < rounds:
            if position < whole:
                last = steps
        else:
            if program < sharers:
                tile, first, last = stretch(program, piece, sharers, divided, steps)
                position = whole + tile
        if first < last:
            to, tile_row, tile_column = target(position, me, ranks, down, across, GROUP, PAIRED)
            acc = multiply(a, b, to * rows + tile_row * BM, tile_column * BN, K, first * BK,
                           last * BK, BM, BN, BK, DESCRIPTORS)
            if flag >= 0:
                signal(flag_pointer(context, owner) + flag, run)
                flag = -1
            is_whole = last - first == steps
            is_last = is_whole
            if last - first < steps:
                is_last = keep(acc, scratch, pieces, program, piece, tile, sharers, divided,
                               steps, BM, BN)
            index = tile_row * across + tile_column
            if is_last:
                if to == me:
                    for step in range(1, ranks):
                        wait(own_flags + (me + step) % ranks * of_rank + index, run)
                if is_whole:
                    finish(acc, context, sums, to, me, ranks, rows, tile_row * BM,
                           tile_column * BN, N, BM, BN)
                else:
                    for r in range(0, BM, ROWS):
                        part = added(scratch, r, tile, sharers, divided, steps, BM, BN, ROWS)
                        finish(part, context, sums, to, me, ranks, rows, tile_row * BM + r,
                               tile_column * BN, N, ROWS, BN)
                if to != me:
                    flag = me * of_rank + index
                    owner = to
                    if PAIRED:
                        signal(flag_pointer(context, owner) + flag, run)
                        flag = -1
    if flag >= 0:
        signal(flag_pointer(context, owner) + flag, run)
