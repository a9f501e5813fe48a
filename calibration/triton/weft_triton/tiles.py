"""Tiles of C = A B^T in bf16, which the GEMM kernels have in common. B is (n, k).

Tiles rarely fill the last round of programs. So the tiles of that round are divided evenly: all
their steps along k in one row, cut into equal stretches, one for each program (stream-K).
A stretch is part of one tile or of two; the parts' sums meet in a scratch in memory, and whoever
brings the last part of a tile adds them up.
"""
import triton
import triton.language as tl


@triton.jit
def place(tile, down, across, GROUP: tl.constexpr):
    """Row and column of a tile, of `down` x `across`: columns of GROUP rows, so that tiles made at
    the same time share rows of A and B in the L2."""
    whole = GROUP * across
    first = tile // whole * GROUP
    height = tl.minimum(down - first, GROUP)
    return first + tile % whole % height, tile % whole // height


@triton.jit
def multiply(a, b, row, column, K, k_begin, k_end, BM: tl.constexpr, BN: tl.constexpr,
             BK: tl.constexpr, DESCRIPTORS: tl.constexpr):
    """Rows `row`... of A times rows `column`... of B, in fp32. A and B are tensor descriptors,
    which the copy engine of Hopper's SMs reads by, or pointers."""
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    if DESCRIPTORS:
        for k in range(k_begin, k_end, BK):
            acc = tl.dot(a.load([row, k]), b.load([column, k]).T, acc)
    else:
        ks = k_begin + tl.arange(0, BK)
        at_a = a + (row + tl.arange(0, BM)).to(tl.int64)[:, None] * K + ks[None, :]
        at_b = b + (column + tl.arange(0, BN)).to(tl.int64)[None, :] * K + ks[:, None]
        for _ in range(k_begin, k_end, BK):
            acc = tl.dot(tl.load(at_a), tl.load(at_b), acc)
            at_a += BK
            at_b += BK
    return acc


@triton.jit
def offsets(row, column, N, BM: tl.constexpr, BN: tl.constexpr):
    """Of a tile's elements in a matrix of N columns."""
    rows = (row + tl.arange(0, BM)).to(tl.int64)
    return rows[:, None] * N + (column + tl.arange(0, BN))[None, :]


@triton.jit
def stretch(program, piece, sharers, tiles, steps):
    """The first or second piece (0, 1) of a program's stretch of `tiles` that are divided: its
    tile, and its steps along k, from the first to before the last; none if they are equal."""
    begin = program * (tiles * steps) // sharers
    end = (program + 1) * (tiles * steps) // sharers
    tile = begin // steps + piece
    first = tl.maximum(begin - tile * steps, 0)
    last = tl.maximum(tl.minimum(end - tile * steps, steps), first)
    return tile, first, last


@triton.jit
def first_of(tile, sharers, tiles, steps):
    """The first program whose stretch has steps of the tile."""
    return ((tile * steps + 1) * sharers - 1) // (tiles * steps)


@triton.jit
def last_of(tile, sharers, tiles, steps):
    return ((tile + 1) * steps * sharers - 1) // (tiles * steps)


@triton.jit
def keep(acc, scratch, counters, program, piece, tile, sharers, tiles, steps, BM: tl.constexpr,
         BN: tl.constexpr):
    """Stores a piece's sums. Whether it was the last piece of its tile."""
    tl.store(scratch + (2 * program + piece).to(tl.int64) * (BM * BN) + offsets(0, 0, BN, BM, BN),
             acc)
    tl.debug_barrier()
    pieces = last_of(tile, sharers, tiles, steps) - first_of(tile, sharers, tiles, steps) + 1
    is_last = tl.atomic_add(counters + tile, 1, sem="acq_rel", scope="gpu") == pieces - 1
    if is_last:
        tl.atomic_xchg(counters + tile, 0, sem="relaxed", scope="gpu")
    return is_last


@triton.jit
def added(scratch, row, tile, sharers, tiles, steps, BM: tl.constexpr, BN: tl.constexpr,
          ROWS: tl.constexpr):
    """ROWS rows of a tile, from its row `row` on: the sums of all its pieces."""
    total = tl.zeros((ROWS, BN), dtype=tl.float32)
    for program in range(first_of(tile, sharers, tiles, steps),
                         last_of(tile, sharers, tiles, steps) + 1):
        piece = tile - program * (tiles * steps) // sharers // steps
        total += tl.load(scratch + (2 * program + piece).to(tl.int64) * (BM * BN)
                         + offsets(row, 0, BN, ROWS, BN))
    return total
