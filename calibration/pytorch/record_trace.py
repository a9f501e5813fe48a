"""Records traces of a small training step for weft, and prints what the step took.

    torchrun --nproc-per-node 2 calibration/pytorch/record_trace.py -o OUT

Layers of a Llama with tensor parallelism over all GPUs, tokens split between layers (sequence parallelism): all-gather,
GEMM ... GEMM, reduce-scatter, forward and backward. OUT/rankN.json.gz are the profiles of each rank, for
`workload: {kind: pytorch, path: OUT}`. A line of JSON on standard output has the median time of a step without the
profiler, by events on the GPU, all steps queued one after another.
"""

import argparse
import gzip
import json
import os
import pathlib
import statistics

import torch
import torch.distributed as dist
import torch.nn.functional as F


class Gather(torch.autograd.Function):
    """Rows of all ranks, forward; sums of their gradients, each rank its rows, backward."""

    @staticmethod
    def forward(ctx, rows):
        out = rows.new_empty(rows.shape[0] * dist.get_world_size(), rows.shape[1])
        dist.all_gather_into_tensor(out, rows)
        return out

    @staticmethod
    def backward(ctx, gradient):
        out = gradient.new_empty(gradient.shape[0] // dist.get_world_size(), gradient.shape[1])
        dist.reduce_scatter_tensor(out, gradient.contiguous())
        return out


class Scatter(torch.autograd.Function):
    """The opposite of Gather."""

    @staticmethod
    def forward(ctx, rows):
        out = rows.new_empty(rows.shape[0] // dist.get_world_size(), rows.shape[1])
        dist.reduce_scatter_tensor(out, rows.contiguous())
        return out

    @staticmethod
    def backward(ctx, gradient):
        out = gradient.new_empty(gradient.shape[0] * dist.get_world_size(), gradient.shape[1])
        dist.all_gather_into_tensor(out, gradient.contiguous())
        return out


class Layer(torch.nn.Module):
    """A Llama's layer without rotary embeddings; `parts` GPUs share it."""

    def __init__(self, hidden, inner, heads, kv_heads, parts):
        super().__init__()
        linear = lambda a, b: torch.nn.Linear(a, b, bias=False, device="cuda", dtype=torch.bfloat16)
        self.width = hidden // heads
        self.heads, self.kv_heads = heads // parts, kv_heads // parts
        self.qkv = linear(hidden, (self.heads + 2 * self.kv_heads) * self.width)
        self.out = linear(self.heads * self.width, hidden)
        self.up = linear(hidden, 2 * inner // parts)
        self.down = linear(inner // parts, hidden)
        norm = lambda: torch.nn.RMSNorm(hidden, device="cuda", dtype=torch.bfloat16)
        self.norms = torch.nn.ModuleList([norm(), norm()])

    def forward(self, x):
        qkv = self.qkv(Gather.apply(self.norms[0](x)))
        tokens = qkv.shape[0]
        q, k, v = qkv.view(1, tokens, -1, self.width).transpose(1, 2).split(
            [self.heads, self.kv_heads, self.kv_heads], 1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + Scatter.apply(self.out(mixed.transpose(1, 2).reshape(tokens, -1)))
        gate, up = self.up(Gather.apply(self.norms[1](x))).chunk(2, 1)
        return x + Scatter.apply(self.down(F.silu(gate) * up))


def without_paths(path):
    """What belongs to the machine, not to the recording, is left out."""
    with open(path) as file:
        trace = json.load(file)
    trace.pop("traceName", None)
    kept = ("kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "cuda_sync", "cpu_op",
            "user_annotation")
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") in kept]
    path.unlink()
    packed = gzip.compress(json.dumps(trace, separators=(",", ":")).encode(), 9, mtime=0)
    path.with_name(path.name + ".gz").write_bytes(packed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--hidden", type=int, default=4096)
    parser.add_argument("--inner", type=int, default=14336)
    parser.add_argument("--heads", type=int, default=32)
    parser.add_argument("--kv-heads", type=int, default=8)
    parser.add_argument("--steps", type=int, default=2, help="steps that are profiled")
    given = parser.parse_args()

    rank = int(os.environ["RANK"])
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
    parts = dist.get_world_size()
    layers = torch.nn.Sequential(*[Layer(given.hidden, given.inner, given.heads, given.kv_heads, parts)
                                   for _ in range(given.layers)])
    x = torch.randn(given.tokens // parts, given.hidden, device="cuda", dtype=torch.bfloat16)
    gradient = torch.randn_like(x)

    def step():
        layers.zero_grad(set_to_none=True)
        layers(x).backward(gradient)

    for _ in range(5):
        step()
    times = []
    for _ in range(7):  # 20 steps queued behind one another: the host is ahead
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        dist.barrier()
        torch.cuda._sleep(40_000_000)  # the host gets a head start
        begin.record()
        for _ in range(20):
            step()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / 20)

    given.output.mkdir(parents=True, exist_ok=True)
    path = given.output / f"rank{rank}.json"
    wait, warmup = 1, 2
    with torch.profiler.profile(
            record_shapes=True,
            schedule=torch.profiler.schedule(wait=wait, warmup=warmup, active=given.steps, repeat=1),
            on_trace_ready=lambda profile: profile.export_chrome_trace(str(path))) as profile:
        for _ in range(wait + warmup + given.steps):
            step()
            profile.step()
    torch.cuda.synchronize()
    without_paths(path)
    if rank == 0:
        print(json.dumps({"kind": "trace.step", "gpu": torch.cuda.get_device_name(), "gpus": parts,
                          "layers": given.layers, "tokens": given.tokens, "hidden": given.hidden,
                          "inner": given.inner, "us": round(statistics.median(times), 1),
                          "us_min": round(min(times), 1), "us_max": round(max(times), 1),
                          "torch": torch.__version__}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
