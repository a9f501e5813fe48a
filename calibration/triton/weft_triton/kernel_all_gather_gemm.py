"""All-gather + GEMM: each rank has `rows` rows of A, and computes C of the rows of all."""
import triton
import triton.language as tl

from .communication import arrive, flag_pointer, my_rank, peer_pointer, put, rank_count, wait
from .tiles import multiply, offsets, place


@triton.jit
def send_rows(shard, context, counters, run, rows, K, flag_rows, senders, at_once,
              SHARED: tl.constexpr, SR: tl.constexpr, SK: tl.constexpr):
    """`senders` programs store the shard to all other ranks, `at_once` rows at a time, in order,
    each to all in turn; `flag_rows` rows share a flag at their destination. SHARED: here too."""
    me = my_rank(context)
    ranks = rank_count(context)
    groups = rows // flag_rows
    if SHARED:
        count = ranks
    else:
        count = ranks - 1
    for chunk in range(tl.program_id(0), rows // at_once * count, senders):
        to = (me + 1 + chunk % count) % ranks
        first = chunk // count * at_once
        target = peer_pointer(context, to, tl.bfloat16)
        for row in range(first, first + at_once, SR):
            for k in range(0, K, SK):
                words = tl.load(shard + offsets(row, k, K, SR, SK))
                put(target + offsets(me * rows + row, k, K, SR, SK), words)
        group = first // flag_rows
        arrive(counters + to * groups + group, flag_rows // at_once,
               flag_pointer(context, to) + me * groups + group, run)


@triton.jit
def source_of(position, me, ranks, down, across, head, GROUP: tl.constexpr, SHARED: tl.constexpr):
    """The rank whose rows a tile after the first `head` is of, its row among these, its column."""
    if SHARED:
        own_first = head // down  # columns
        both = head + (across - own_first) * (ranks * down)
        if position < both:
            row = (position - head) % (ranks * down)
            tile_column = own_first + (position - head) // (ranks * down)
            step = row // down
            tile_row = row % down
        else:
            row = (position - both) % ((ranks - 1) * down)
            tile_column = (position - both) // ((ranks - 1) * down)
            step = 1 + row // down
            tile_row = row % down
    else:
        step = position // (down * across)
        tile_row, tile_column = place(position % (down * across), down, across, GROUP)
    return (me + step) % ranks, tile_row, tile_column


@triton.jit
def wait_for_rows(flags, source, tile_row, rows, flag_rows, run, BM: tl.constexpr):
    first = tile_row * BM // flag_rows
    for group in range(first, (tile_row * BM + BM - 1) // flag_rows + 1):
        wait(flags + source * (rows // flag_rows) + group, run)


@triton.jit(do_not_specialize=["run", "head", "at_once"])
def all_gather_gemm(a_own, a_all, b, shard, c, context, counters, queue, run, rows, N, K,
                    flag_rows, senders, at_once, head, BM: tl.constexpr, BN: tl.constexpr,
                    BK: tl.constexpr, GROUP: tl.constexpr, SR: tl.constexpr, SK: tl.constexpr,
                    SENDS: tl.constexpr, SHARED: tl.constexpr, DESCRIPTORS: tl.constexpr):
    """Persistent. Data: A of all, [source][row][K].

    `flag_rows` rows share a flag. `a_own` and `a_all` are the shard and the data, as `multiply`
    takes them. SENDS: the first `senders` programs store the shard to the others; without it, copy
    engines do (operators.py).

    All take tiles from a queue. The first `head` are of own rows, read from the shard. Not SHARED:
    these are all own tiles, and each rank's come after them. SHARED, for few rows: only as many as
    fill the time in which the others' rows come; then the tiles of all ranks' rows in a column come
    together, so that B is read from memory once and not once for each rank.

    Two loops, as the copies that a loop has under way keep shared memory that is its own: both
    sources of A in one would need it twice.
    """
    if SENDS:
        if tl.program_id(0) < senders:
            send_rows(shard, context, counters, run, rows, K, flag_rows, senders, at_once, SHARED,
                      SR, SK)
    me = my_rank(context)
    ranks = rank_count(context)
    flags = flag_pointer(context, me)
    across = N // BN
    down = rows // BM
    tiles = down * across * ranks
    position = tl.atomic_add(queue, 1, sem="relaxed", scope="gpu")
    while position < head:
        if SHARED:
            tile_row = position % down
            tile_column = position // down
        else:
            tile_row, tile_column = place(position, down, across, GROUP)
        acc = multiply(a_own, b, tile_row * BM, tile_column * BN, K, BM, BN, BK, DESCRIPTORS)
        at = offsets(me * rows + tile_row * BM, tile_column * BN, N, BM, BN)
        tl.store(c + at, acc.to(tl.bfloat16))
        position = tl.atomic_add(queue, 1, sem="relaxed", scope="gpu")
    while position < tiles:
        source, tile_row, tile_column = source_of(position, me, ranks, down, across, head, GROUP,
                                                  SHARED)
        wait_for_rows(flags, source, tile_row, rows, flag_rows, run, BM)
        row = source * rows + tile_row * BM
        acc = multiply(a_all, b, row, tile_column * BN, K, BM, BN, BK, DESCRIPTORS)
        tl.store(c + offsets(row, tile_column * BN, N, BM, BN), acc.to(tl.bfloat16))
        position = tl.atomic_add(queue, 1, sem="relaxed", scope="gpu")
    if tl.atomic_add(queue + 1, 1, sem="acq_rel", scope="gpu") == tl.num_programs(0) - 1:
        tl.atomic_xchg(queue, 0, sem="relaxed", scope="gpu")
        tl.atomic_xchg(queue + 1, 0, sem="relaxed", scope="gpu")
