"""What the kernels take and what comes out of them, as plain numbers: no torch, no GPU."""

TILE = 128             # rows and columns of C that a work-group computes
STEP = 32              # of k
THREADS = 256          # of a work-group
RANKS_MOST = 16


def need(holds, text):
    if not holds:
        raise ValueError(text)


def check_ranks(ranks):
    need(1 <= ranks <= RANKS_MOST, f"the kernels take 1 to {RANKS_MOST} ranks, not {ranks}")


def embedding_all_to_all(tables, indices, ranks):
    """(table, row, dim), (sample, table, pooling) -> (source, sample of mine, table, dim)."""
    check_ranks(ranks)
    need(len(tables) == 3, f"tables are (table, row, dim), not {tuple(tables)}")
    need(len(indices) == 3, f"indices are (sample, table, pooling), not {tuple(indices)}")
    count, _, dim = tables
    samples, of_indices, _ = indices
    need(of_indices == count, f"indices are of {of_indices} tables, and there are {count}")
    need(dim % 4 == 0 and dim // 4 <= THREADS and THREADS % (dim // 4) == 0,
         f"dim is 4, 8, 16, ... up to {4 * THREADS}, not {dim}")
    need(samples % ranks == 0, f"{samples} samples do not divide among {ranks} ranks")
    return ranks, samples // ranks, count, dim


def rows_per_wg(rows, most=32):
    """Rows of a slice: the largest power of two up to `most` that divides a destination's rows."""
    size = most
    while rows % size:
        size //= 2
    return size


def rows_sent_at_once(rows, k, least):
    """Of a shard of `rows` x k, by a work-group of an all-gather + GEMM before it says so. As
    gather_rows_of in ../../../src/gemm_kernels.h has it, with `least` 8.

    All senders begin together, so their pieces end together, and the link has nothing to carry
    until all are fenced: 2 to 4 us a piece on an H100, which large ones hide. But peers wait for
    the first rows: a shard is 16 pieces at least, and two work-groups at least bring a tile's rows.
    """
    at_once = least
    while 4 * at_once <= TILE and 32 * at_once <= rows and 2 * at_once * k * 2 <= 512 << 10:
        at_once *= 2
    return at_once


def check_product(a, b, ranks):
    check_ranks(ranks)
    need(len(a) == 2 and len(b) == 2, f"A and B are matrices, not {tuple(a)} and {tuple(b)}")
    need(a[1] == b[1], f"A has {a[1]} columns and B, which is (n, k), has {b[1]}")
    need(b[0] % TILE == 0, f"n is a multiple of {TILE}, not {b[0]}")
    need(a[1] % STEP == 0, f"k is a multiple of {STEP}, not {a[1]}")


def rows_of_rank(m, ranks):
    need(m % (ranks * TILE) == 0, f"m is a multiple of {ranks} x {TILE}, not {m}")
    return m // ranks


def gemm_all_to_all(a, b, ranks):
    """(m, k), (n, k) -> (source, row of mine, n)."""
    check_product(a, b, ranks)
    return ranks, rows_of_rank(a[0], ranks), b[0]


def gemm_reduce_scatter(a, b, ranks):
    """(m, k of this rank), (n, k of this rank) -> (row of mine, n)."""
    check_product(a, b, ranks)
    return rows_of_rank(a[0], ranks), b[0]


def all_gather_gemm(shard, b, ranks):
    """(row of mine, k), (n of this rank, k) -> (row of all, n)."""
    check_product(shard, b, ranks)
    need(shard[0] % TILE == 0, f"a rank's rows are a multiple of {TILE}, not {shard[0]}")
    return shard[0] * ranks, b[0]


def gemv_all_reduce(w, x, ranks):
    """(m, k of this rank), (k of this rank) -> (m)."""
    check_ranks(ranks)
    need(len(w) == 2 and len(x) == 1, f"W is a matrix, x a vector: {tuple(w)}, {tuple(x)}")
    need(w[1] == x[0], f"W has {w[1]} columns and x {x[0]} elements")
    need(w[1] % 8 == 0, f"k is a multiple of 8, not {w[1]}")
    need(w[0] % (8 * ranks) == 0, f"m is a multiple of {ranks} x 8, not {w[0]}")
    return (w[0],)
