"""The kernels as functions: as weft_fused's operators, of the same shapes, written in Triton.

    gemm_all_to_all(a, b, group, out)      gemm_reduce_scatter(a, b, group)
    all_gather_gemm(shard, b, group, by)   gemv_all_reduce(w, x, group)

All ranks call with equal shapes, in the same order, on one stream; what is said of runs and of
`out` in weft_fused/peers.py holds here. `config` chooses tiles; `best` says which by default.
"""
import dataclasses

import torch
from weft_fused import peers, shapes

from . import (kernel_all_gather_gemm, kernel_gemm_all_to_all, kernel_gemm_reduce_scatter,
               kernel_gemv_all_reduce)
from .context import context_of


@dataclasses.dataclass(frozen=True)
class Config:
    """A tile, how many programs fit on an SM, and how the compiler is to make it."""
    bm: int
    bn: int
    bk: int
    warps: int
    stages: int
    on_sm: int = 1
    group: int = 8
    mixed: bool = True           # all-to-all: ranks in turn, not one after another
    together: bool | None = None  # of all ranks' rows, tiles in a column together; None: few rows
    divide: bool | None = None   # the last round's tiles among all programs; None: if it pays
    descriptors: bool = True     # tensor descriptors: the copy engine of Hopper's SMs (TMA)

    def constants(self):
        return {"BM": self.bm, "BN": self.bn, "BK": self.bk, "GROUP": self.group,
                "DESCRIPTORS": self.descriptors, "ROWS": ROWS, "num_warps": self.warps,
                "num_stages": self.stages}


LARGE = Config(128, 256, 64, warps=8, stages=3)
SMALL = Config(128, 128, 64, warps=4, stages=3, on_sm=2)

# What `measure.py --configs` compares.
NAMED = {
    "apart": dataclasses.replace(LARGE, together=False, divide=False),
    "apart divided": dataclasses.replace(LARGE, together=False, divide=True),
    "together": dataclasses.replace(LARGE, together=True, divide=False),
    "together divided": dataclasses.replace(LARGE, together=True, divide=True),
    "small": SMALL,
}

ROWS = 32              # of a divided tile, that are added at a time
SENDERS = 16           # programs of all_gather_gemm that send
ENGINE_CHUNKS = 4      # copies of a shard to each rank by copy engines
TOGETHER_ROWS = 1024   # of all ranks: up to so many, B is worth reading once
DIVIDED_STEPS = 24     # along k, from which on the last round's tiles are divided
SHARE_STEPS = 8        # of a piece, at least
PIECES_AT = 1 << 15    # counters of divided tiles: the second half, which no other kernel uses

_units = {}
_scratch = {}


def units(device):
    if device not in _units:
        _units[device] = torch.cuda.get_device_properties(device).multi_processor_count
    return _units[device]


def best(rows, ranks, n, k, device):
    """Large tiles, unless they are too few even if divided, or too short to be divided."""
    tiles = rows * ranks // LARGE.bm * (n // LARGE.bn)
    few = tiles < units(device) // (4 if k // LARGE.bk >= DIVIDED_STEPS else 2)
    return SMALL if n % LARGE.bn or few else LARGE


def as_operand(matrix, config, rows):
    if not config.descriptors:
        return matrix
    from triton.tools.tensor_descriptor import TensorDescriptor
    return TensorDescriptor.from_tensor(matrix, [rows, config.bk])


def operands(a, b, config):
    return as_operand(a, config, config.bm), as_operand(b, config, config.bn)


def shares(tiles, programs, steps, divide=None):
    """How many tiles are made by one program each, how many are divided, and among how many.
    Dividing costs a store and loads of all sums in fp32: too much for a short tile or a round that
    is nearly full. A piece has at least SHARE_STEPS steps."""
    left = tiles % programs
    if divide is None:
        divide = steps >= DIVIDED_STEPS and left <= 0.85 * programs
    if not divide or left == 0 or steps < SHARE_STEPS:
        return tiles, 0, 0
    return tiles - left, left, min(programs, left * steps // SHARE_STEPS)


class Plan:
    """What a call of a GEMM's kernel needs beside its operands."""

    def __init__(self, which, a, b, group, config):
        self.all_ = peers.peers_of(group)
        ranks, (n, k) = self.all_.count, b.shape
        self.shape = which(a.shape, b.shape, ranks)
        self.rows = a.shape[0] if which is shapes.all_gather_gemm else a.shape[0] // ranks
        self.config = config = config or best(self.rows, ranks, n, k, a.device)
        shapes.need(self.rows % config.bm == 0 and n % config.bn == 0 and k % config.bk == 0,
                    f"tiles of {config} do not divide the matrices")
        self.down, self.tiles = self.rows // config.bm, self.rows * ranks // config.bm * (
            n // config.bn)
        # All programs are resident, and not more of them than there are steps to divide.
        self.programs = config.on_sm * units(a.device)
        self.shares = shares(self.tiles, self.programs, k // config.bk, config.divide)
        self.whole, self.divided, self.sharers = self.shares
        if not self.divided:
            self.programs = min(self.programs, self.tiles)
        self.together = config.together
        if self.together is None:
            self.together = self.rows * ranks <= TOGETHER_ROWS

    def scratch(self, device):
        """Sums of pieces, and the counters of divided tiles."""
        size = 2 * self.programs * self.config.bm * self.config.bn if self.divided else 16
        if device not in _scratch or _scratch[device].numel() < size:
            _scratch[device] = torch.empty(size, dtype=torch.float32, device=device)
        return _scratch[device], self.all_.counters[PIECES_AT:]


def gemm_all_to_all(a, b, group, out=None, config=None):
    plan = Plan(shapes.gemm_all_to_all, a, b, group, config)
    size = 2 * a.shape[0] * b.shape[0]
    run = plan.all_.run("gemm", size) if out is None else plan.all_.run_into(out)
    kernel_gemm_all_to_all.gemm_all_to_all[(plan.programs,)](
        *operands(a, b, plan.config), context_of(run), run.counters, *plan.scratch(a.device),
        run.number, plan.rows, b.shape[0], a.shape[1], *plan.shares,
        MIXED=plan.config.mixed, **plan.config.constants())
    return run.view(plan.shape, torch.bfloat16).clone() if out is None else out


def gemm_reduce_scatter(a, b, group, config=None):
    plan = Plan(shapes.gemm_reduce_scatter, a, b, group, config)
    run = plan.all_.run("gemm", 2 * a.shape[0] * b.shape[0])
    sums = a.new_empty(plan.shape)
    kernel_gemm_reduce_scatter.gemm_reduce_scatter[(plan.programs,)](
        *operands(a, b, plan.config), sums, context_of(run), *plan.scratch(a.device), run.number,
        plan.rows, b.shape[0], a.shape[1], *plan.shares, PAIRED=plan.together,
        **plan.config.constants())
    return sums


def power_of_two(of, most):
    size = most
    while of % size:
        size //= 2
    return size


_engines = {}


def send_by_engine(shard, run, rows, flag_rows, together):
    """Copies on a stream of their own, chunk by chunk to each rank in turn, each followed by its
    flag: no SM has to be free for them, as all hold programs that wait."""
    from torch.distributed._symmetric_memory import _SymmetricMemory
    device = shard.device
    if device not in _engines:
        _engines[device] = torch.cuda.Stream(device)
    _engines[device].wait_stream(torch.cuda.current_stream())
    groups = rows // flag_rows
    with torch.cuda.stream(_engines[device]):
        for group in range(groups):
            part = slice(group * flag_rows, (group + 1) * flag_rows)
            for step in range(1, run.count + together):
                to = (run.me + step) % run.count
                run.data_of(to, (run.count * rows, shard.shape[1]), shard.dtype)[
                    run.me * rows + part.start:run.me * rows + part.stop].copy_(shard[part])
                _SymmetricMemory.stream_write_value32(run.flags_of(to), run.me * groups + group,
                                                      run.number)
    return _engines[device]


def rows_of_a_copy(rows, bm):
    """As many chunks as are large, and whole rows of tiles in each."""
    size = bm * max(1, rows // bm // ENGINE_CHUNKS)
    while rows % size:
        size -= bm
    return size


def head_of(plan, n):
    """Own tiles before those of all ranks' rows: all of them, or as many columns of them as take
    the time in which the others' rows come, at 300 GB/s and 5 TFLOP/s of an SM; 5 us more."""
    if not plan.together:
        return plan.down * (n // plan.config.bn)
    rounds = 0.2 + 6e-4 * plan.rows * (plan.all_.count - 1)
    columns = min(n // plan.config.bn, -(-int(rounds * plan.programs) // plan.down))
    return min(columns, plan.whole // plan.down) * plan.down


def all_gather_gemm(shard, b, group, by="kernel", config=None):
    """`by`: "kernel", the first programs send the shard; "engine", copy engines do."""
    plan = Plan(shapes.all_gather_gemm, shard, b, group, config)
    n, k = b.shape
    if plan.whole < plan.down * (n // plan.config.bn):
        plan.together = True  # an own tile that is divided is read from the data
    run = plan.all_.run("gather", 2 * plan.shape[0] * k)
    gathered = run.view((plan.shape[0], k), torch.bfloat16)
    c = shard.new_empty(plan.shape)
    flag_rows = plan.config.bm
    if by == "engine":
        flag_rows = rows_of_a_copy(plan.rows, plan.config.bm)
        stream = send_by_engine(shard, run, plan.rows, flag_rows, plan.together)
    kernel_all_gather_gemm.all_gather_gemm[(plan.programs,)](
        as_operand(shard, plan.config, plan.config.bm), *operands(gathered, b, plan.config), shard,
        c, context_of(run), run.counters[2:], *plan.scratch(shard.device), run.counters,
        run.number, plan.rows, n, k, flag_rows, min(SENDERS, plan.programs), head_of(plan, n),
        *plan.shares, SR=16, SK=power_of_two(k, 1024), SENDS=by == "kernel",
        SHARED=plan.together, **plan.config.constants())
    if by == "engine":
        torch.cuda.current_stream().wait_stream(stream)
    return c


@dataclasses.dataclass(frozen=True)
class GemvConfig:
    """Rows and columns that a program has in hand, and the steps of columns that are under way."""
    bm: int = 16
    bk: int = 256
    warps: int = 4
    stages: int = 4
    on_sm: int = 4


NAMED_GEMV = {"16x256": GemvConfig(), "32x256": GemvConfig(bm=32), "32x128": GemvConfig(32, 128),
              "16x512": GemvConfig(bk=512, stages=3), "8x1024": GemvConfig(8, 1024, stages=3)}


def gemv_all_reduce(w, x, group, config=None):
    all_ = peers.peers_of(group)
    (m,) = shapes.gemv_all_reduce(w.shape, x.shape, all_.count)
    run = all_.run("gemv", 4 * m * all_.count)
    y = torch.empty(m, dtype=torch.float32, device=w.device)
    config = config or GemvConfig()
    wgs = min(m // config.bm, config.on_sm * units(w.device))
    kernel_gemv_all_reduce.gemv_all_reduce[(wgs,)](w, x, y, context_of(run), run.number, m,
                                                   w.shape[1], BM=config.bm, BK=config.bk,
                                                   STAGES=config.stages, num_warps=config.warps)
    return y
