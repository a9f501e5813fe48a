"""GEMM + all-to-all: rows of C are grouped by the rank they are for, and stored there."""
import triton
import triton.language as tl

from .communication import arrive, flag_pointer, my_rank, peer_pointer, put, rank_count, wait
from .tiles import added, keep, multiply, offsets, place, stretch


@triton.jit
def target(position, me, ranks, of_rank, round_, MIXED: tl.constexpr):
    """The rank that a tile is for, and which of that rank's tiles it is."""
    if MIXED:
        step = (position + position // round_) % ranks
        index = position // ranks
    else:
        step = position // of_rank
        index = position % of_rank
    return (me + 1 + step) % ranks, index


@triton.jit(do_not_specialize=["run", "whole", "divided", "sharers"])
def gemm_all_to_all(a, b, context, counters, scratch, pieces, run, rows, N, K, whole, divided,
                    sharers, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                    GROUP: tl.constexpr, MIXED: tl.constexpr, DESCRIPTORS: tl.constexpr,
                    ROWS: tl.constexpr):
    """Persistent. `rows` of C are for each rank; data: [source][row of mine][N].

    MIXED: ranks take turns as destinations, and the turn moves on from round to round, so that the
    links are used from the first to the last tile; else all of one rank after another's, own last.
    Nobody waits for a single tile, so a program arrives once for each rank, at its end: no store
    is waited for before. `whole` tiles are made by one program each, `divided` by `sharers`
    together.
    """
    me = my_rank(context)
    ranks = rank_count(context)
    program = tl.program_id(0)
    programs = tl.num_programs(0)
    down = rows // BM
    across = N // BN
    round_ = programs // ranks * ranks
    steps = K // BK
    rounds = (whole + programs - 1) // programs
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
            to, index = target(position, me, ranks, down * across, round_, MIXED)
            tile_row, tile_column = place(index, down, across, GROUP)
            acc = multiply(a, b, to * rows + tile_row * BM, tile_column * BN, K, first * BK,
                           last * BK, BM, BN, BK, DESCRIPTORS)
            out = peer_pointer(context, to, tl.bfloat16)
            row = me * rows + tile_row * BM
            if last - first == steps:
                put(out + offsets(row, tile_column * BN, N, BM, BN), acc.to(tl.bfloat16))
            else:
                if keep(acc, scratch, pieces, program, piece, tile, sharers, divided, steps, BM,
                        BN):
                    for r in range(0, BM, ROWS):
                        sums = added(scratch, r, tile, sharers, divided, steps, BM, BN, ROWS)
                        put(out + offsets(row + r, tile_column * BN, N, ROWS, BN),
                            sums.to(tl.bfloat16))
    for to in range(0, ranks):
        arrive(counters + to, programs, flag_pointer(context, to) + me, run)
    if program == 0:
        for source in range(0, ranks):
            wait(flag_pointer(context, me) + source, run)
