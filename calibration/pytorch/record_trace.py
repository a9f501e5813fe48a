"""Records a trace of a small training step for weft, and prints what the step took.

    torchrun --nproc-per-node 2 calibration/pytorch/record_trace.py -o OUT

Layers of a Llama with tensor parallelism over all GPUs and tokens split between layers (sequence
parallelism), forward and backward. OUT/rankN.json.gz are the profiles, for `workload: {kind:
pytorch, path: OUT}`. The line of JSON on standard output has the median time of a step without the
profiler.

With --nvtx nothing is written: Nsight Systems records, from the first of the profiled steps on:

    nsys profile -t cuda,nvtx -s none --cpuctxsw=none --cuda-graph-trace=node \\
      --cuda-event-trace=true --capture-range=cudaProfilerApi -o OUT \\
      torchrun --nproc-per-node 2 calibration/pytorch/record_trace.py --nvtx
    nsys export --type sqlite --include-blobs=true OUT.nsys-rep
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


def gathered(rows):
    out = rows.new_empty(rows.shape[0] * dist.get_world_size(), rows.shape[1])
    dist.all_gather_into_tensor(out, rows.contiguous())
    return out


def scattered(rows):
    out = rows.new_empty(rows.shape[0] // dist.get_world_size(), rows.shape[1])
    dist.reduce_scatter_tensor(out, rows.contiguous())
    return out


class Gather(torch.autograd.Function):
    """Rows of all ranks, forward; sums of their gradients, each rank its rows, backward."""

    forward = staticmethod(lambda ctx, rows: gathered(rows))
    backward = staticmethod(lambda ctx, gradient: scattered(gradient))


class Scatter(torch.autograd.Function):
    """The opposite of Gather."""

    forward = staticmethod(lambda ctx, rows: scattered(rows))
    backward = staticmethod(lambda ctx, gradient: gathered(gradient))


def linear(inputs, outputs):
    return torch.nn.Linear(inputs, outputs, bias=False, device="cuda", dtype=torch.bfloat16)


def norm(hidden):
    return torch.nn.RMSNorm(hidden, device="cuda", dtype=torch.bfloat16)


class Layer(torch.nn.Module):
    """A Llama's layer without rotary embeddings; `parts` GPUs share it."""

    def __init__(self, hidden, inner, heads, kv_heads, parts):
        super().__init__()
        self.width = hidden // heads
        self.heads, self.kv_heads = heads // parts, kv_heads // parts
        self.qkv = linear(hidden, (self.heads + 2 * self.kv_heads) * self.width)
        self.out = linear(self.heads * self.width, hidden)
        self.up = linear(hidden, 2 * inner // parts)
        self.down = linear(inner // parts, hidden)
        self.norms = torch.nn.ModuleList([norm(hidden), norm(hidden)])

    def forward(self, x):
        qkv = self.qkv(Gather.apply(self.norms[0](x)))
        tokens = qkv.shape[0]
        heads = qkv.view(1, tokens, -1, self.width).transpose(1, 2)
        q, k, v = heads.split([self.heads, self.kv_heads, self.kv_heads], 1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + Scatter.apply(self.out(mixed.transpose(1, 2).reshape(tokens, -1)))
        gate, up = self.up(Gather.apply(self.norms[1](x))).chunk(2, 1)
        return x + Scatter.apply(self.down(F.silu(gate) * up))


def pack(path):
    """Leaves out what belongs to the machine, and packs the rest."""
    trace = json.loads(path.read_text())
    trace.pop("traceName", None)
    kept = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "cuda_sync",
            "cpu_op", "user_annotation"}
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") in kept]
    text = json.dumps(trace, separators=(",", ":"))
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    path.unlink()


def time_of_a_step(step):
    """The median time in us of steps queued one behind another."""
    times = []
    for _ in range(7):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        dist.barrier()
        torch.cuda._sleep(40_000_000)  # so that the host is ahead
        begin.record()
        for _ in range(20):
            step()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / 20)
    return statistics.median(times)


def profile(step, steps, path):
    schedule = torch.profiler.schedule(wait=1, warmup=2, active=steps, repeat=1)
    with torch.profiler.profile(record_shapes=True, schedule=schedule,
                                on_trace_ready=lambda p: p.export_chrome_trace(str(path))) as p:
        for _ in range(3 + steps):
            step()
            p.step()
    torch.cuda.synchronize()
    pack(path)


def in_ranges(step, steps):
    """The steps as NVTX ranges, and the operators in them with their shapes."""
    dist.barrier()
    torch.cuda.synchronize()
    with torch.cuda.profiler.profile(), torch.autograd.profiler.emit_nvtx(record_shapes=True):
        for i in range(2 + steps):
            with torch.cuda.nvtx.range(f"step {i}"):
                step()
        torch.cuda.synchronize()


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("-o", "--output", type=pathlib.Path)
    way.add_argument("--nvtx", action="store_true")
    for name, usual in (("layers", 2), ("tokens", 4096), ("hidden", 4096), ("inner", 14336),
                        ("heads", 32), ("kv_heads", 8), ("steps", 2)):
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=usual)
    return parser.parse_args()


def main():
    given = arguments()
    rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", device_id=torch.device("cuda", local))
    parts = dist.get_world_size()
    layers = torch.nn.Sequential(*[
        Layer(given.hidden, given.inner, given.heads, given.kv_heads, parts)
        for _ in range(given.layers)
    ])
    x = torch.randn(given.tokens // parts, given.hidden, device="cuda", dtype=torch.bfloat16)
    gradient = torch.randn_like(x)

    def step():
        layers.zero_grad(set_to_none=True)
        layers(x).backward(gradient)

    for _ in range(5):
        step()
    us = time_of_a_step(step)
    if given.nvtx:
        in_ranges(step, given.steps)
    else:
        given.output.mkdir(parents=True, exist_ok=True)
        profile(step, given.steps, given.output / f"rank{rank}.json")
    if rank == 0:
        said = {name: value for name, value in vars(given).items()
                if name not in ("output", "nvtx")}
        print(json.dumps({"kind": "trace.step", "gpu": torch.cuda.get_device_name(),
                          "gpus": parts, **said, "us": round(us, 1),
                          "torch": torch.__version__}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
