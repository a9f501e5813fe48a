"""All-gather + GEMM: each rank has `rows` rows of A, and computes C of the rows of all."""
import triton
import triton.language as tl

from .communication import arrive, flag_pointer, my_rank, peer_pointer, put, rank_count, wait
from .tiles import multiply, offsets, place


@triton.jit
def send_rows(shard, context, counters, run, rows, K, flag_rows, senders, SR: tl.constexpr,
              SK: tl.constexpr):
    """`senders` programs store the shard to all other ranks, SR rows at a time, in order, each to
    all in turn; `flag_rows` rows share a flag at their destination."""
    me = my_rank(context)
    ranks = rank_count(context)
    groups = rows // flag_rows
    for chunk in range(tl.program_id(0), rows // SR * (ranks - 1), senders):
        to = (me + 1 + chunk % (ranks - 1)) % ranks
        row = chunk // (ranks - 1) * SR
        target = peer_pointer(context, to, tl.bfloat16)
        for k in range(0, K, SK):
            words = tl.load(shard + offsets(row, k, K, SR, SK))
            put(target + offsets(me * rows + row, k, K, SR, SK), words)
        group = row // flag_rows
        arrive(counters + to * groups + group, flag_rows // SR,
               flag_pointer(context, to) + me * groups + group, run)


@triton.jit(do_not_specialize=["run"])
def all_gather_gemm(a_own, a_all, b, shard, c, context, counters, queue, run, rows, N, K,
                    flag_rows, senders, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                    GROUP: tl.constexpr, SR: tl.constexpr, SK: tl.constexpr,
                    SENDS: tl.constexpr, DESCRIPTORS: tl.constexpr):
    """Persistent. Data: A of all, [source][row][K]; a rank's own rows are read from its shard.

    `flag_rows` rows share a flag. `a_own` and `a_all` are the shard and the data, as `multiply`
    takes them. SENDS: the first `senders` programs store the shard to the others; without it, copy
    engines do (operators.py). All take tiles from a queue, those of the own rows first, then each
    rank's as they come.
    """
    if SENDS:
        if tl.program_id(0) < senders:
            send_rows(shard, context, counters, run, rows, K, flag_rows, senders, SR, SK)
    me = my_rank(context)
    ranks = rank_count(context)
    flags = flag_pointer(context, me)
    across = N // BN
    down = rows // BM
    of_rank = down * across
    tiles = of_rank * ranks
    # Two loops, as the copies that a loop has under way keep shared memory that is its own: both
    # in one would need it twice.
    tile = tl.atomic_add(queue, 1, sem="relaxed", scope="gpu")
    while tile < of_rank:
        tile_row, tile_column = place(tile, down, across, GROUP)
        acc = multiply(a_own, b, tile_row * BM, tile_column * BN, K, BM, BN, BK, DESCRIPTORS)
        at = offsets(me * rows + tile_row * BM, tile_column * BN, N, BM, BN)
        tl.store(c + at, acc.to(tl.bfloat16))
        tile = tl.atomic_add(queue, 1, sem="relaxed", scope="gpu")
    while tile < tiles:
        source = (me + tile // of_rank) % ranks
        tile_row, tile_column = place(tile % of_rank, down, across, GROUP)
        first = tile_row * BM // flag_rows
        for group in range(first, (tile_row * BM + BM - 1) // flag_rows + 1):
            wait(flags + source * (rows // flag_rows) + group, run)
        acc = multiply(a_all, b, source * rows + tile_row * BM, tile_column * BN, K, BM, BN, BK,
                       DESCRIPTORS)
        at = offsets(source * rows + tile_row * BM, tile_column * BN, N, BM, BN)
        tl.store(c + at, acc.to(tl.bfloat16))
        tile = tl.atomic_add(queue, 1, sem="relaxed", scope="gpu")
    if tl.atomic_add(queue + 1, 1, sem="acq_rel", scope="gpu") == tl.num_programs(0) - 1:
        tl.atomic_xchg(queue, 0, sem="relaxed", scope="gpu")
        tl.atomic_xchg(queue + 1, 0, sem="relaxed", scope="gpu")
