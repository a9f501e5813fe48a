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
    mixed: bool = True
    descriptors: bool = True     # tensor descriptors: the copy engine of Hopper's SMs (TMA)

    def of_compiler(self):
        return {"num_warps": self.warps, "num_stages": self.stages}

    def tile(self):
        return {"BM": self.bm, "BN": self.bn, "BK": self.bk, "GROUP": self.group,
                "DESCRIPTORS": self.descriptors}


LARGE = Config(128, 256, 64, warps=8, stages=3)
SMALL = Config(128, 128, 64, warps=4, stages=3, on_sm=2)

# What `measure.py --configs` compares.
NAMED = {
    "large3": LARGE,
    "large4": dataclasses.replace(LARGE, stages=4),
    "small3": SMALL,
    "remote_first": dataclasses.replace(LARGE, mixed=False),
}

SENDERS = 16           # programs of all_gather_gemm that send
ENGINE_CHUNKS = 4      # copies of a shard to each rank by copy engines

_units = {}


def units(device):
    if device not in _units:
        _units[device] = torch.cuda.get_device_properties(device).multi_processor_count
    return _units[device]


def best(rows, ranks, n, device):
    """By rounds of tiles, one of an SM at a time. A large tile is two small ones, which take two
    thirds of its time each, as measured."""
    def rounds(config):
        return -(-(rows * ranks // config.bm * (n // config.bn)) // units(device))
    large = n % LARGE.bn == 0 and rounds(LARGE) <= 2 / 3 * rounds(SMALL)
    return LARGE if large else SMALL


def as_operand(matrix, config, rows):
    if not config.descriptors:
        return matrix
    from triton.tools.tensor_descriptor import TensorDescriptor
    return TensorDescriptor.from_tensor(matrix, [rows, config.bk])


def operands(a, b, config):
    return as_operand(a, config, config.bm), as_operand(b, config, config.bn)


def programs(config, tiles, device):
    return min(config.on_sm * units(device), tiles)


def prepared(which, a, b, group, config):
    """The result's shape, rows of a rank, and a configuration whose tiles divide C."""
    all_ = peers.peers_of(group)
    shape = which(a.shape, b.shape, all_.count)
    gathers = which is shapes.all_gather_gemm
    rows = a.shape[0] if gathers else a.shape[0] // all_.count
    config = config or best(rows, all_.count, b.shape[0], a.device)
    shapes.need(rows % config.bm == 0 and b.shape[0] % config.bn == 0
                and a.shape[1] % config.bk == 0, f"tiles of {config} do not divide the matrices")
    tiles = rows * all_.count // config.bm * (b.shape[0] // config.bn)
    return all_, shape, rows, config, programs(config, tiles, a.device)


def gemm_all_to_all(a, b, group, out=None, config=None):
    all_, shape, rows, config, wgs = prepared(shapes.gemm_all_to_all, a, b, group, config)
    size = 2 * a.shape[0] * b.shape[0]
    run = all_.run("gemm", size) if out is None else all_.run_into(out)
    kernel_gemm_all_to_all.gemm_all_to_all[(wgs,)](
        *operands(a, b, config), context_of(run), run.counters, run.number, rows, b.shape[0],
        a.shape[1], MIXED=config.mixed, **config.tile(), **config.of_compiler())
    return run.view(shape, torch.bfloat16).clone() if out is None else out


def gemm_reduce_scatter(a, b, group, config=None):
    all_, shape, rows, config, wgs = prepared(shapes.gemm_reduce_scatter, a, b, group, config)
    run = all_.run("gemm", 2 * a.shape[0] * b.shape[0])
    sums = a.new_empty(shape)
    kernel_gemm_reduce_scatter.gemm_reduce_scatter[(wgs,)](
        *operands(a, b, config), sums, context_of(run), run.number, rows, b.shape[0], a.shape[1],
        **config.tile(), **config.of_compiler())
    return sums


def power_of_two(of, most):
    size = most
    while of % size:
        size //= 2
    return size


_engines = {}


def send_by_engine(shard, run, rows, flag_rows):
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
            for step in range(1, run.count):
                to = (run.me + step) % run.count
                run.data_of(to, (run.count * rows, shard.shape[1]), shard.dtype)[
                    run.me * rows + part.start:run.me * rows + part.stop].copy_(shard[part])
                _SymmetricMemory.stream_write_value32(run.flags_of(to), run.me * groups + group,
                                                      run.number)
    return _engines[device]


def all_gather_gemm(shard, b, group, by="kernel", config=None):
    """`by`: "kernel", the first programs send the shard; "engine", copy engines do."""
    all_, shape, rows, config, wgs = prepared(shapes.all_gather_gemm, shard, b, group, config)
    k = shard.shape[1]
    run = all_.run("gather", 2 * shape[0] * k)
    gathered = run.view((shape[0], k), torch.bfloat16)
    c = shard.new_empty(shape)
    flag_rows = config.bm
    if by == "engine":
        # As many chunks as are large, and whole rows of tiles in each.
        flag_rows = config.bm * max(1, rows // config.bm // ENGINE_CHUNKS)
        while rows % flag_rows:
            flag_rows -= config.bm
        stream = send_by_engine(shard, run, rows, flag_rows)
    own = as_operand(shard, config, config.bm)
    kernel_all_gather_gemm.all_gather_gemm[(wgs,)](
        own, *operands(gathered, b, config), shard, c, context_of(run), run.counters[2:],
        run.counters, run.number, rows, b.shape[0], k, flag_rows, min(SENDERS, wgs), SR=16,
        SK=power_of_two(k, 1024), SENDS=by == "kernel", **config.tile(), **config.of_compiler())
    if by == "engine":
        torch.cuda.current_stream().wait_stream(stream)
    return c


@dataclasses.dataclass(frozen=True)
class GemvConfig:
    """Rows and columns that a program has in hand, and the steps of columns that are under way."""
    bm: int = 16
    bk: int = 512
    warps: int = 4
    stages: int = 3
    on_sm: int = 4


NAMED_GEMV = {"16x512": GemvConfig(), "8x512": GemvConfig(bm=8), "8x1024": GemvConfig(8, 1024),
              "4x1024": GemvConfig(4, 1024, stages=4), "16x256": GemvConfig(16, 256, stages=4),
              "16x512 plain": GemvConfig(stages=1), "8x512x8": GemvConfig(bm=8, on_sm=8)}


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
