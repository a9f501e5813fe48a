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
    mixed: bool = True            # all-to-all: ranks in turn, not one after another
    together: bool | None = None  # all ranks' tiles in a column together; None: as `Plan` says
    descriptors: bool = True      # tensor descriptors: the copy engine of Hopper's SMs (TMA)

    def constants(self):
        return {"BM": self.bm, "BN": self.bn, "BK": self.bk, "GROUP": self.group,
                "DESCRIPTORS": self.descriptors, "num_warps": self.warps,
                "num_stages": self.stages}


LARGE = Config(128, 256, 64, warps=8, stages=3)
SMALL = Config(128, 128, 64, warps=4, stages=3, on_sm=2)

# What `measure.py --configs` compares.
NAMED = {
    "large": dataclasses.replace(LARGE, together=False),
    "large together": dataclasses.replace(LARGE, together=True),
    "large4": dataclasses.replace(LARGE, stages=4),
    "small": SMALL,
    "remote_first": dataclasses.replace(LARGE, mixed=False),
}

SENDERS = 16           # programs of all_gather_gemm that send
LEAST_SENT = 16        # rows that one of them sends at a time, at least
ENGINE_CHUNKS = 4      # copies of a shard to each rank by copy engines

_units = {}


def units(device):
    if device not in _units:
        _units[device] = torch.cuda.get_device_properties(device).multi_processor_count
    return _units[device]


def best(rows, ranks, n, units_):
    """By rounds of tiles, one of an SM at a time. A large tile is two small ones, which take two
    thirds of its time each, as measured."""
    def rounds(config):
        return -(-(rows * ranks // config.bm * (n // config.bn)) // units_)
    large = n % LARGE.bn == 0 and rounds(LARGE) <= 2 / 3 * rounds(SMALL)
    return LARGE if large else SMALL


def as_operand(matrix, config, rows):
    if not config.descriptors:
        return matrix
    from triton.tools.tensor_descriptor import TensorDescriptor
    return TensorDescriptor.from_tensor(matrix, [rows, config.bk])


def operands(a, b, config):
    return as_operand(a, config, config.bm), as_operand(b, config, config.bn)


class Plan:
    """What a call of a GEMM's kernel needs beside its operands."""

    def __init__(self, which, a, b, group, config):
        self.all_ = peers.peers_of(group)
        ranks, (n, k) = self.all_.count, b.shape
        self.shape = which(a.shape, b.shape, ranks)
        self.rows = a.shape[0] if which is shapes.all_gather_gemm else a.shape[0] // ranks
        self.config = config = config or best(self.rows, ranks, n, units(a.device))
        shapes.need(self.rows % config.bm == 0 and n % config.bn == 0 and k % config.bk == 0,
                    f"tiles of {config} do not divide the matrices")
        self.down, self.across = self.rows // config.bm, n // config.bn
        tiles = self.down * self.across * ranks
        self.programs = min(config.on_sm * units(a.device), tiles)  # all resident
        # Together pays where reading B is what takes long: few rows, and much of it. An all-gather
        # has to wait for its first tiles then, which takes tiles enough to make meanwhile.
        self.together = config.together
        if self.together is None:
            gathers = which is shapes.all_gather_gemm
            self.together = (ranks * self.rows <= (512 if gathers else 1024) and 2 * n * k > 120e6
                             and tiles >= (3 if gathers else 0.9) * self.programs)


def gemm_all_to_all(a, b, group, out=None, config=None):
    plan = Plan(shapes.gemm_all_to_all, a, b, group, config)
    size = 2 * a.shape[0] * b.shape[0]
    run = plan.all_.run("gemm", size) if out is None else plan.all_.run_into(out)
    kernel_gemm_all_to_all.gemm_all_to_all[(plan.programs,)](
        *operands(a, b, plan.config), context_of(run), run.counters, run.number, plan.rows,
        b.shape[0], a.shape[1], MIXED=plan.config.mixed, **plan.config.constants())
    return run.view(plan.shape, torch.bfloat16).clone() if out is None else out


def gemm_reduce_scatter(a, b, group, config=None):
    plan = Plan(shapes.gemm_reduce_scatter, a, b, group, config)
    run = plan.all_.run("gemm", 2 * a.shape[0] * b.shape[0])
    sums = a.new_empty(plan.shape)
    kernel_gemm_reduce_scatter.gemm_reduce_scatter[(plan.programs,)](
        *operands(a, b, plan.config), sums, context_of(run), run.number, plan.rows, b.shape[0],
        a.shape[1], PAIRED=plan.together, **plan.config.constants())
    return sums


def power_of_two(of, most):
    size = most
    while of % size:
        size //= 2
    return size


_engines = {}


def send_by_engine(shard, run, rows, flag_rows, together):
    """Copies on a stream of their own, chunk by chunk to each rank in turn, each followed by its
    flag: no SM has to be free for them, as all hold programs that wait. The rank before this one
    is first, as its tiles need this one's rows first."""
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
                to = (run.me - step) % run.count
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


def head_of(plan):
    """Own tiles before those of all ranks' rows: all of them, or as many columns of them as take
    the time in which the others' rows come, at 300 GB/s and 5 TFLOP/s of an SM, and a bit more."""
    if not plan.together:
        return plan.down * plan.across
    rounds = 0.2 + 6e-4 * plan.rows * (plan.all_.count - 1)
    return min(plan.across, -(-int(rounds * plan.programs) // plan.down)) * plan.down


def all_gather_gemm(shard, b, group, by="kernel", config=None):
    """`by`: "kernel", the first programs send the shard; "engine", copy engines do."""
    plan = Plan(shapes.all_gather_gemm, shard, b, group, config)
    n, k = b.shape
    run = plan.all_.run("gather", 2 * plan.shape[0] * k)
    gathered = run.view((plan.shape[0], k), torch.bfloat16)
    c = shard.new_empty(plan.shape)
    flag_rows = plan.config.bm
    if by == "engine":
        flag_rows = rows_of_a_copy(plan.rows, plan.config.bm)
        stream = send_by_engine(shard, run, plan.rows, flag_rows, plan.together)
    kernel_all_gather_gemm.all_gather_gemm[(plan.programs,)](
        as_operand(shard, plan.config, plan.config.bm), *operands(gathered, b, plan.config), shard,
        c, context_of(run), run.counters[2:], run.counters, run.number, plan.rows, n, k, flag_rows,
        min(SENDERS, plan.programs), shapes.rows_sent_at_once(plan.rows, k, LEAST_SENT),
        head_of(plan), SR=LEAST_SENT, SK=power_of_two(k, 1024),
        SENDS=by == "kernel", SHARED=plan.together, **plan.config.constants())
    if by == "engine":
        torch.cuda.current_stream().wait_stream(stream)
    return c


@dataclasses.dataclass(frozen=True)
class GemvConfig:
    """Rows and columns that a program has in hand, and the steps of columns that are under way."""
    bm: int = 32
    bk: int = 256
    warps: int = 4
    stages: int = 4
    on_sm: int = 4


NAMED_GEMV = {"32x256": GemvConfig(), "16x256": GemvConfig(bm=16), "32x128": GemvConfig(bk=128),
              "16x512": GemvConfig(16, 512, stages=3), "8x1024": GemvConfig(8, 1024, stages=3)}


def gemv_all_reduce(w, x, group, config=None):
    all_ = peers.peers_of(group)
    (m,) = shapes.gemv_all_reduce(w.shape, x.shape, all_.count)
    run = all_.run("gemv", 4 * m * all_.count)
    y = torch.empty(m, dtype=torch.float32, device=w.device)
    config = config or GemvConfig(bm=power_of_two(m, GemvConfig.bm))
    wgs = min(m // config.bm, config.on_sm * units(w.device))
    kernel_gemv_all_reduce.gemv_all_reduce[(wgs,)](w, x, y, context_of(run), run.number, m,
                                                   w.shape[1], BM=config.bm, BK=config.bk,
                                                   STAGES=config.stages, num_warps=config.warps)
    return y
