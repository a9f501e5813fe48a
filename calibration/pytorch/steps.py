"""Training steps of a small Llama on two or four GPUs, in PyTorch's ways of sharing them.

    torchrun --nproc-per-node N calibration/pytorch/steps.py -o OUT [--only WAYS] [--seconds S]
        [--schedules SCHEDULES] [--profile]

A step is forward, backward and AdamW (fused, bf16), of layers of Llama 3 8B in bf16: attention by
scaled_dot_product_attention, norms, rotary embeddings and SwiGLU compiled, no embedding and no
head. With TORCH_COMPILE_DISABLE=1 nothing is compiled: ZB-V and DualPipeV, which run a backward
function twice, for inputs and for weights, take no compiled one. OUT.jsonl gets a line for each
case as it is measured: the median time of a step in us, the slower rank's, and the most memory.
Ways:

    one        each GPU its own step: no communication
    fp8        the same, its products in fp8 with a scale for each tensor, row or block of 128
    ddp        DistributedDataParallel, buckets of 25 and 200 MiB
    fsdp       fully_shard of each layer, parameters freed after the forward pass or not
    tensor     tensor and sequence parallelism
    experts    eight experts of as wide a feed-forward, equally many on each GPU, of which a token
               takes two; uneven all-to-alls; a product for each expert
    grouped_experts   the same, and 64 small ones of which a token takes six, as torchtitan has
               them: rows by gather and scatter_add, one grouped product of a GPU's experts
    pipeline   torch.distributed.pipelining: GPipe, 1F1B, interleaved 1F1B, ZB-V, DualPipeV
    shared_pipeline   the same on four GPUs as two stages of two copies that share each layer's
               parameters (fully_shard), freed after the forward pass or not
    dlrm       tables divided among the GPUs, dense layers copied (dlrm.py)

With --profile each case is also profiled: OUT/WAY-N/rankR.json.gz has two steps, and the case's
line names the folder (`profile`), for `workload: {kind: pytorch, path: OUT/WAY-N}`.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F

import dlrm as recommendation
from record_trace import Gather, Scatter, linear, norm, profile

HIDDEN, INNER, HEADS, KV_HEADS = 4096, 14336, 32, 8
WAYS = ("one", "ddp", "fsdp", "tensor", "pipeline", "shared_pipeline", "experts",
        "grouped_experts", "dlrm", "fp8")


# Kernels of shapes that are known only when they run take up to three times as long as those of
# each shape, so each shape gets its own, as in a program that has only one.
compiled = torch.compile(dynamic=False)
torch._dynamo.config.recompile_limit = 256


@compiled
def normed(x, weight):
    return F.rms_norm(x, (x.shape[-1],), weight, 1e-5)


@compiled
def rotated(x, angles):
    """Rotary embeddings of (batch, tokens, heads, width)."""
    a, b = x.float().chunk(2, -1)
    cos, sin = angles.cos()[:, None, :], angles.sin()[:, None, :]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)


@compiled
def activated(both):
    gate, up = both.chunk(2, -1)
    return F.silu(gate) * up


@compiled
def added(x, y):
    return x + y


class Exchange(torch.autograd.Function):
    """all_to_all_single of rows, and back."""

    @staticmethod
    def forward(ctx, rows, sent, received):
        ctx.splits = sent, received
        out = rows.new_empty(sum(received), rows.shape[1])
        dist.all_to_all_single(out, rows.contiguous(), received, sent)
        return out

    @staticmethod
    def backward(ctx, gradient):
        sent, received = ctx.splits
        out = gradient.new_empty(sum(sent), gradient.shape[1])
        dist.all_to_all_single(out, gradient.contiguous(), sent, received)
        return out, None, None


F8 = torch.float8_e4m3fn
LARGEST, BLOCK = 448.0, 128


def scale_of(largest):
    return largest.float().clamp(min=1e-12) / LARGEST


# Casts of (rows, columns): as it lies and, for products that sum over the rows, transposed; each
# with its scales as torch._scaled_mm takes them.
@compiled
def by_tensor(x, square):
    scale = scale_of(x.abs().amax())
    x8 = (x / scale).to(F8)
    return x8, x8.t().contiguous(), scale, scale


@compiled
def by_row(x, square):
    across, down = scale_of(x.abs().amax(1, True)), scale_of(x.abs().amax(0, True))
    return (x / across).to(F8), (x / down).to(F8).t().contiguous(), across, down.t().contiguous()


@compiled
def by_block(x, square):
    """128 x 128 elements share a scale if square, else 1 x 128."""
    rows, columns = x.shape
    if square:
        blocks = x.view(rows // BLOCK, BLOCK, columns // BLOCK, BLOCK)
        scale = scale_of(blocks.abs().amax((1, 3), True))
        x8 = (blocks / scale).to(F8).view(rows, columns)
        scale = scale.view(rows // BLOCK, columns // BLOCK)
        return x8, x8.t().contiguous(), scale, scale.t().contiguous()
    blocks = x.view(rows, columns // BLOCK, BLOCK)
    across = scale_of(blocks.abs().amax(2, True))
    down = scale_of(x.view(rows // BLOCK, BLOCK, columns).abs().amax(1, True))
    x8 = (blocks / across).to(F8).view(rows, columns)
    xt = (x.view(rows // BLOCK, BLOCK, columns) / down).to(F8).view(rows, columns).t().contiguous()
    # Scales of a row's blocks lie apart, those of one block of all rows side by side.
    return x8, xt, across.view(rows, -1).t().contiguous().t(), down.view(-1, columns).t()


CASTS = {"tensor": by_tensor, "row": by_row, "block": by_block}


def multiplied(a, a_scale, b, b_scale, scaling, fast):
    """a (m, k) times b (n, k), transposed."""
    return torch._scaled_mm(a, b.t(), a_scale, b_scale.t() if b_scale.dim() else b_scale,
                            out_dtype=torch.bfloat16, use_fast_accum=fast and scaling != "block")


class Fp8Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, scaling):
        x8, xt, x_scale, xt_scale = CASTS[scaling](x, False)
        w8, wt, w_scale, wt_scale = CASTS[scaling](weight, True)
        ctx.save_for_backward(xt, xt_scale, wt, wt_scale)
        ctx.scaling = scaling
        return multiplied(x8, x_scale, w8, w_scale, scaling, True)

    @staticmethod
    def backward(ctx, gradient):
        xt, xt_scale, wt, wt_scale = ctx.saved_tensors
        g8, gt, g_scale, gt_scale = CASTS[ctx.scaling](gradient.contiguous(), False)
        return (multiplied(g8, g_scale, wt, wt_scale, ctx.scaling, False),
                multiplied(gt, gt_scale, xt, xt_scale, ctx.scaling, False), None)


class Fp8Linear(torch.nn.Module):
    def __init__(self, linear, scaling):
        super().__init__()
        self.weight, self.scaling = linear.weight, scaling

    def forward(self, x):
        return Fp8Product.apply(x, self.weight, self.scaling)


def in_fp8(layer, scaling):
    for name in ("qkv", "out", "up", "down"):
        setattr(layer, name, Fp8Linear(getattr(layer, name), scaling))
    return layer


class Expert(torch.nn.Module):
    """Of as many rows as come."""

    def __init__(self):
        super().__init__()
        self.up = linear(HIDDEN, 2 * INNER)
        self.down = linear(INNER, HIDDEN)

    def forward(self, x):
        return self.down(activated(self.up(x)))


class Routed(torch.nn.Module):
    """`routing[rank][expert]`: rows that a rank has for an expert."""

    def __init__(self, routing, top_k):
        super().__init__()
        rank, ranks, mine = dist.get_rank(), len(routing), len(routing[0]) // len(routing)
        here = range(rank * mine, (rank + 1) * mine)
        self.sent = [sum(routing[rank][r * mine:(r + 1) * mine]) for r in range(ranks)]
        self.received = [sum(routing[r][e] for e in here) for r in range(ranks)]
        self.rows = [sum(routing[r][e] for r in range(ranks)) for e in here]
        # Rows arrive by rank, then by expert: those of an expert are put together.
        starts, at = {}, 0
        for r in range(ranks):
            for e in here:
                starts[r, e] = at
                at += routing[r][e]
        self.by_expert = torch.tensor([i for e in here for r in range(ranks) for i in
                                       range(starts[r, e], starts[r, e] + routing[r][e])],
                                      device="cuda")
        self.taken = torch.randperm(sum(routing[rank]), device="cuda")
        self.top_k = top_k


class Experts(Routed):
    def __init__(self, routing, top_k):
        super().__init__(routing, top_k)
        self.own = torch.nn.ModuleList([Expert() for _ in self.rows])
        self.by_rank = torch.argsort(self.by_expert)
        self.back = torch.argsort(self.taken)

    def forward(self, x):
        rows = x.repeat_interleave(self.top_k, 0, output_size=len(self.taken))[self.taken]
        rows = Exchange.apply(rows, self.sent, self.received)[self.by_expert]
        done = torch.cat([own(part) for own, part in zip(self.own, rows.split(self.rows))])
        home = Exchange.apply(done[self.by_rank], self.received, self.sent)[self.back]
        return home.view(x.shape[0], self.top_k, HIDDEN).sum(1)


class GroupedExperts(Routed):
    def __init__(self, routing, top_k, inner):
        super().__init__(routing, top_k)
        weights = lambda out, into: torch.nn.Parameter(0.02 * torch.randn(
            len(self.rows), out, into, device="cuda", dtype=torch.bfloat16))
        self.up, self.down = weights(2 * inner, HIDDEN), weights(HIDDEN, inner)
        self.ends = torch.tensor(self.rows, device="cuda").cumsum(0).to(torch.int32)
        self.tokens = (self.taken // top_k)[:, None].expand(-1, HIDDEN)
        self.scores = torch.rand(len(self.taken), 1, device="cuda", dtype=torch.bfloat16)

    def product(self, rows, weights):
        return torch._grouped_mm(rows, weights.transpose(-2, -1), offs=self.ends)

    def forward(self, x):
        rows = Exchange.apply(torch.gather(x, 0, self.tokens), self.sent, self.received)
        done = self.product(activated(self.product(rows[self.by_expert], self.up)), self.down)
        by_rank = torch.empty_like(done)
        by_rank[self.by_expert] = done
        home = Exchange.apply(by_rank, self.received, self.sent) * self.scores
        return torch.zeros_like(x).scatter_add(0, self.tokens, home)


class Layer(torch.nn.Module):
    """`parts` GPUs share it, and then the tokens between its parts."""

    def __init__(self, parts=1, experts=None):
        super().__init__()
        self.width = HIDDEN // HEADS
        self.heads, self.kv_heads, self.parts = HEADS // parts, KV_HEADS // parts, parts
        self.qkv = linear(HIDDEN, (self.heads + 2 * self.kv_heads) * self.width)
        self.out = linear(self.heads * self.width, HIDDEN)
        self.experts = experts
        if experts is None:
            self.up = linear(HIDDEN, 2 * INNER // parts)
            self.down = linear(INNER // parts, HIDDEN)
        self.norms = torch.nn.ModuleList([norm(HIDDEN), norm(HIDDEN)])

    def gathered(self, x):
        return Gather.apply(x) if self.parts > 1 else x

    def scattered(self, x):
        return Scatter.apply(x) if self.parts > 1 else x

    def forward(self, x):
        qkv = self.qkv(self.gathered(normed(x, self.norms[0].weight)))
        tokens = qkv.shape[0]
        heads = qkv.view(1, tokens, -1, self.width)
        q, k, v = heads.split([self.heads, self.kv_heads, self.kv_heads], 2)
        at = torch.arange(tokens, device=x.device)[:, None]
        angles = at / 10_000 ** (torch.arange(self.width // 2, device=x.device) / self.width * 2)
        q, k = rotated(q, angles), rotated(k, angles)
        mixed = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)),
                                               is_causal=True, enable_gqa=True)
        x = added(x, self.scattered(self.out(mixed.transpose(1, 2).reshape(tokens, -1))))
        if self.experts is not None:
            return added(x, self.experts(normed(x, self.norms[1].weight)))
        both = self.up(self.gathered(normed(x, self.norms[1].weight)))
        return added(x, self.scattered(self.down(activated(both))))


def adam(module):
    return torch.optim.AdamW(module.parameters(), fused=True)


class Bench:
    def __init__(self, given):
        self.given = given
        self.rank = dist.get_rank()
        self.deadline = time.monotonic() + given.seconds
        self.cases = 0
        torch.manual_seed(0)

    def rows(self, tokens):
        return torch.randn(tokens, HIDDEN, device="cuda", dtype=torch.bfloat16)

    def write(self, line):
        if self.rank == 0:
            with open(self.given.output + ".jsonl", "a", encoding="utf-8") as out:
                out.write(json.dumps(line, separators=(",", ":")) + "\n")

    def time(self, step):
        for _ in range(3):
            step()
        times = []
        for _ in range(7):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            dist.barrier()
            torch.cuda.synchronize()
            torch.cuda._sleep(400_000_000)  # 0.2 s, so that the host is ahead
            begin.record()
            for _ in range(2):
                step()
            end.record()
            torch.cuda.synchronize()
            longest = torch.tensor(begin.elapsed_time(end) * 1000 / 2, device="cuda")
            dist.all_reduce(longest, dist.ReduceOp.MAX)
            times.append(longest.item())
        return times

    def profiled(self, step, way):
        """Leaves two steps as profiles, one a rank; returns their folder's name."""
        folder = pathlib.Path(self.given.output, f"{way}-{self.cases}")
        self.cases += 1
        folder.mkdir(parents=True, exist_ok=True)
        profile(step, 2, folder / f"rank{self.rank}.json")
        return folder.name

    def case(self, make, **facts):
        """`make()` gives a step. A case that fails on all ranks is left out; on one, all hang."""
        late = torch.tensor(float(time.monotonic() > self.deadline), device="cuda")
        dist.broadcast(late, 0)  # all or none
        if late.item():
            return
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        try:
            step = make()
            times = self.time(step)
        except Exception as problem:
            print(f"left out: {facts}: {type(problem).__name__}: {problem}", file=sys.stderr,
                  flush=True)
            return
        peak = torch.tensor(torch.cuda.max_memory_allocated(), device="cuda")
        dist.all_reduce(peak, dist.ReduceOp.MAX)
        if self.given.profile:
            facts["profile"] = self.profiled(step, facts["way"])
        llama = {"hidden": HIDDEN, "inner": INNER, "heads": HEADS, "kv_heads": KV_HEADS}
        self.write({"kind": "step", "gpus": dist.get_world_size(),
                    **(llama if facts["way"] != "dlrm" else {}),
                    "compiled": "TORCH_COMPILE_DISABLE" not in os.environ, **facts,
                    "us": round(statistics.median(times), 1), "us_min": round(min(times), 1),
                    "us_max": round(max(times), 1), "peak_bytes": int(peak.item())})


def step_of(model, module, x, gradient):
    optimizer = adam(module)

    def step():
        model(x).backward(gradient)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return step


def whole_model(bench, wrap, parts=1, **facts):
    layers, tokens = facts["layers"], facts["tokens"]

    def make():
        module = torch.nn.Sequential(*[Layer(parts) for _ in range(layers)])
        model = wrap(module)
        x = bench.rows(tokens // parts).requires_grad_()
        return step_of(model, model, x, torch.randn_like(x))
    bench.case(make, **facts)


def one(bench):
    for tokens in (2048, 4096):
        whole_model(bench, lambda module: module, way="one", layers=4, tokens=tokens)


def fp8(bench):
    for tokens in (4096, 2048):
        for scaling in CASTS:
            whole_model(bench, lambda module, scaling=scaling: module.apply(
                lambda part: in_fp8(part, scaling) if isinstance(part, Layer) else part),
                way="fp8", layers=4, tokens=tokens, scaling=scaling)


def ddp(bench):
    from torch.nn.parallel import DistributedDataParallel
    for tokens in (2048, 4096):
        for mib in (25, 200):
            whole_model(bench, lambda module, mib=mib: DistributedDataParallel(
                module, bucket_cap_mb=mib, gradient_as_bucket_view=True),
                way="ddp", layers=4, tokens=tokens, bucket_mib=mib)


def fsdp(bench):
    from torch.distributed.fsdp import fully_shard
    for tokens in (2048, 4096):
        for reshard in (True, False):
            def wrap(module, reshard=reshard):
                for layer in module:
                    fully_shard(layer, reshard_after_forward=reshard)
                return fully_shard(module, reshard_after_forward=reshard)
            whole_model(bench, wrap, way="fsdp", layers=4, tokens=tokens,
                        reshard_after_forward=reshard)


def tensor(bench):
    for tokens in (2048, 4096):
        whole_model(bench, lambda module: module, parts=dist.get_world_size(), way="tensor",
                    layers=4, tokens=tokens)


def routed(tokens, experts, top_k, skew):
    """Rows of each rank for each expert; some experts are used more often if skew is above 0."""
    rng = random.Random(22)
    weights = [(e + 1) ** -skew for e in range(experts)]
    rng.shuffle(weights)
    routing = []
    for _ in range(dist.get_world_size()):
        drawn = rng.choices(range(experts), weights, k=tokens * top_k)
        routing.append([drawn.count(e) for e in range(experts)])
    return routing


def experts(bench):
    of_experts(bench, 8, 2, lambda routing: Experts(routing, 2), way="experts")


def grouped_experts(bench):
    for number, top_k, inner in ((8, 2, INNER), (64, 6, 1408)):
        of_experts(bench, number, top_k,
                   lambda routing, top_k=top_k, inner=inner: GroupedExperts(routing, top_k, inner),
                   way="grouped_experts", inner=inner)


def of_experts(bench, number, top_k, make_experts, **facts):
    for tokens in (2048, 4096):
        for skew in (0.0, 0.5):
            routing = routed(tokens, number, top_k, skew)

            def make(tokens=tokens, routing=routing):
                model = torch.nn.Sequential(*[Layer(experts=make_experts(routing))
                                              for _ in range(2)])
                x = bench.rows(tokens).requires_grad_()
                return step_of(model, model, x, torch.randn_like(x))
            bench.case(make, layers=2, tokens=tokens, experts=number, top_k=top_k,
                       routing=routing, **facts)


def dlrm(bench):
    for samples, pooling in ((4096, 20), (8192, 20), (4096, 80)):
        facts = {"tables": 8, "rows": 1_000_000, "samples": samples, "pooling": pooling,
                 "bucket_mib": 25}
        bench.case(lambda facts=facts: recommendation.step_of(**facts), way="dlrm", **facts)


PIPELINE_LAYERS = 8


def stages_of(numbers, of_all, wrap, group):
    from torch.distributed.pipelining import PipelineStage
    modules = [wrap(torch.nn.Sequential(*[Layer() for _ in range(PIPELINE_LAYERS // of_all)]))
               for _ in numbers]
    return modules, [PipelineStage(module, number, of_all, torch.device("cuda",
                                   torch.cuda.current_device()), group=group)
                     for module, number in zip(modules, numbers)]


def schedules(bench):
    """(name, schedule, virtual stages) of those that were asked for."""
    from torch.distributed import pipelining
    ways = [("gpipe", pipelining.ScheduleGPipe, 1), ("1f1b", pipelining.Schedule1F1B, 1),
            ("interleaved", pipelining.ScheduleInterleaved1F1B, 2),
            ("interleaved", pipelining.ScheduleInterleaved1F1B, 4),
            ("zb_v", pipelining.ScheduleZBVZeroBubble, 2),
            ("dualpipe_v", pipelining.schedules.ScheduleDualPipeV, 2)]
    if bench.given.schedules:
        ways = [way for way in ways if way[0] in bench.given.schedules.split(",")]
    return ways


def pipeline(bench):
    ranks = dist.get_world_size()
    for name, schedule, virtual in schedules(bench):
        if ranks * virtual > PIPELINE_LAYERS:
            continue
        for microbatches in (4, 8):
            def make(name=name, schedule=schedule, virtual=virtual, microbatches=microbatches):
                return pipelined(bench, name, schedule, virtual, microbatches, ranks, bench.rank)
            bench.case(make, way="pipeline", schedule=name, virtual_stages=virtual,
                       layers=PIPELINE_LAYERS, tokens=4096, microbatches=microbatches)


def shared_pipeline(bench):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    if dist.get_world_size() != 4:
        return
    mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names=("stage", "copy"))

    def wrapped(module, reshard):
        for layer in module:
            fully_shard(layer, mesh=mesh["copy"], reshard_after_forward=reshard)
        return fully_shard(module, mesh=mesh["copy"], reshard_after_forward=reshard)
    for name, schedule, virtual in schedules(bench):
        if name not in ("gpipe", "1f1b", "interleaved") or virtual > 2:
            continue
        for microbatches in (4, 8):
            for reshard in (False, True):
                def make(name=name, schedule=schedule, virtual=virtual, microbatches=microbatches,
                         reshard=reshard):
                    return pipelined(bench, name, schedule, virtual, microbatches, 2,
                                     mesh.get_local_rank("stage"),
                                     lambda module: wrapped(module, reshard),
                                     mesh.get_group("stage"))
                bench.case(make, way="shared_pipeline", schedule=name, virtual_stages=virtual,
                           layers=PIPELINE_LAYERS, tokens=4096, microbatches=microbatches,
                           reshard_after_forward=reshard)


def pipelined(bench, name, schedule, virtual, microbatches, ranks, rank,
              wrap=lambda module: module, group=None):
    all_stages = ranks * virtual
    numbers = [rank + ranks * i for i in range(virtual)]
    if name in ("zb_v", "dualpipe_v"):
        numbers = [rank, all_stages - 1 - rank]
    modules, stages = stages_of(numbers, all_stages, wrap, group)
    run = schedule(stages[0] if virtual == 1 else stages, microbatches,
                   loss_fn=lambda out, target: (out * target).sum())
    optimizers = [adam(module) for module in modules]
    x = bench.rows(4096 * microbatches)
    target = torch.randn_like(x)
    first = 0 in numbers
    last = all_stages - 1 in numbers

    def step():
        if first and last:
            run.step(x, target=target)
        elif first:
            run.step(x)
        elif last:
            run.step(target=target)
        else:
            run.step()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    return step


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--only", default=",".join(WAYS))
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--schedules", help="of the pipelines, those of these names")
    parser.add_argument("--profile", action="store_true", help="profile each case, too")
    given = parser.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", device_id=torch.device("cuda", torch.cuda.current_device()))
    bench = Bench(given)
    bench.write({"kind": "meta", "date": time.strftime("%Y-%m-%d"), "gpus": dist.get_world_size(),
                 "device": torch.cuda.get_device_name(), "torch": torch.__version__,
                 "nccl": ".".join(map(str, torch.cuda.nccl.version())),
                 "method": "median of 7 times two steps, the slower rank's; calibration/pytorch"})
    for way in given.only.split(","):
        globals()[way](bench)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
