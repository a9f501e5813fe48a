"""Communication inside Triton kernels: stores into peers' memory, and flags.

A kernel gets a `context`: a tensor of int64 on its own GPU, which `context.py` makes,

    [my rank, ranks, address of each rank's data..., address of each rank's flags...]

and then

    my_rank(context), rank_count(context)
    peer_pointer(context, rank, dtype)      rank's data, as a pointer to `dtype`
    flag_pointer(context, rank)             rank's flags, int32
    put(to, value, mask)                    stores into a peer (or here); returns at once
    fence()                                 what the program stored is at its place before what it
                                            stores next: for stores that no flag follows
    signal(flag, value)                     sets a flag, of a peer or here, after all that the
                                            program stored before
    put_signal(to, value, flag, number, mask)  both
    is_last(counter, expected)              true in the last of `expected` programs that come here,
                                            whose flags then cover what all have stored
    arrive(counter, expected, flag, value)  that one sets the flag, for all
    wait(flag, value)                       until the flag is `value` or more; what was stored
                                            before that flag can then be read

What this rests on: `signal` is an atomic exchange with release, `wait` polls with acquire, both at
system scope, by one thread of the program; the barrier before the one and the barrier in the other
order the rest of the program's threads. A release is cumulative: it covers what other programs
stored if their arrival was acquired (`arrive`). A flag holds the number of the run that set it, so
no flag is ever cleared.

A program that waits must not keep the one that it waits for from running: kernels whose programs
wait for one another start no more of them than fit on the GPU together.
"""
import triton
import triton.language as tl

try:
    import torch
    ON_AMD = bool(torch.version.hip)
except ImportError:
    ON_AMD = False


@triton.jit
def my_rank(context):
    return tl.load(context).to(tl.int32)


@triton.jit
def rank_count(context):
    return tl.load(context + 1).to(tl.int32)


@triton.jit
def peer_pointer(context, rank, dtype: tl.constexpr):
    pointer = tl.load(context + 2 + rank).to(tl.pointer_type(dtype))
    return tl.multiple_of(pointer, 16)  # symmetric memory is aligned far better


@triton.jit
def flag_pointer(context, rank):
    ranks = rank_count(context)
    return tl.load(context + 2 + ranks + rank).to(tl.pointer_type(tl.int32))


@triton.jit
def put(to, value, mask=None):
    tl.store(to, value, mask=mask)


@triton.jit
def signal(flag, value):
    tl.debug_barrier()
    tl.atomic_xchg(flag, value, sem="release", scope="sys")


@triton.jit
def put_signal(to, value, flag, number, mask=None):
    put(to, value, mask)
    signal(flag, number)


@triton.jit
def wait(flag, value):
    while tl.atomic_add(flag, 0, sem="acquire", scope="sys") < value:
        pass
    tl.debug_barrier()


@triton.jit
def is_last(counter, expected):
    tl.debug_barrier()
    last = tl.atomic_add(counter, 1, sem="acq_rel", scope="sys") == expected - 1
    if last:
        tl.atomic_xchg(counter, 0, sem="relaxed", scope="gpu")
    return last


@triton.jit
def arrive(counter, expected, flag, value):
    if is_last(counter, expected):
        tl.atomic_xchg(flag, value, sem="release", scope="sys")


if ON_AMD:
    # Not run. What an L2 keeps is written back, and all stores are waited for.
    @triton.jit
    def fence():
        tl.debug_barrier()
        tl.inline_asm_elementwise("buffer_wbl2\ns_waitcnt vmcnt(0)\nv_mov_b32 $0, 0", "=v", [],
                                  dtype=tl.int32, is_pure=False, pack=1)
        tl.debug_barrier()
else:
    @triton.jit
    def fence():
        tl.debug_barrier()
        tl.inline_asm_elementwise("fence.acq_rel.sys; mov.u32 $0, 0;", "=r", [], dtype=tl.int32,
                                  is_pure=False, pack=1)
        tl.debug_barrier()
