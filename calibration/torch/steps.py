#!/usr/bin/env python3
"""Whole steps, in bulk and fused, and a profile of the bulk ones.

    python3 calibration/torch/steps.py -o OUT                 # all GPUs of the node: a minute

Forward passes of a few layers of Llama (examples/layers.py), tensor parallel, tokens spread over
the ranks between the products: all four pairs of a GEMM and its collective in one way. A line of
OUT/steps.jsonl for each size and way: `bulk`, `triton` (weft_triton's fused kernels), `pytorch`
(torch.ops.symm_mem's). OUT/NAME/rankN.json.gz are profiles of the bulk step, for `workload: {kind:
pytorch}`: what weft makes of them in modes fused and pipelined can be held against the other lines.
"""
import argparse
import os
import pathlib
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "examples"), str(HERE.parent / "triton"),
                str(HERE.parent / "pytorch")]

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

import layers  # noqa: E402

LLAMA_8B = {"hidden": 4096, "ffn": 14336, "heads": 32, "kv_heads": 8}
LLAMA_70B = {"hidden": 8192, "ffn": 28672, "heads": 64, "kv_heads": 8}
SIZES = {  # layers, tokens, of which model
    "llama8b-2048": (4, 2048, LLAMA_8B),
    "llama8b-4096": (4, 4096, LLAMA_8B),
    "llama8b-8192": (4, 8192, LLAMA_8B),
    "llama70b-2048": (2, 2048, LLAMA_70B),
    "llama70b-4096": (2, 4096, LLAMA_70B),
}


def of_pytorch():
    ops = torch.ops.symm_mem
    return types.SimpleNamespace(
        all_gather_gemm=lambda shard, b, group: ops.fused_all_gather_matmul(
            shard, [b.t()], 0, group, return_A=False)[1][0],
        gemm_reduce_scatter=lambda a, b, group: ops.fused_matmul_reduce_scatter(
            a, b.t(), "sum", 0, group))


def measure(name, size, out, lines, together):
    from record_trace import profile
    from together import difference, summary
    count, tokens, model = size
    group, ranks, rank = dist.group.WORLD.group_name, dist.get_world_size(), dist.get_rank()
    torch.manual_seed(rank)
    stack = [layers.LlamaLayer(group, **model) for _ in range(count)]
    x = torch.randn(tokens // ranks, model["hidden"], device="cuda", dtype=torch.bfloat16)

    def step(way):
        y = x
        for layer in stack:
            y = layer(y, way)
        return y

    expected = step("bulk")
    for way in ("bulk", "triton", "pytorch"):
        together.watchdog.says(f"{name} {way}")
        error = difference(step(way), expected)
        if not error < 2e-2 * count:
            raise RuntimeError(f"{name}, {way}: wrong by {error}")
        lines.write({"kind": "forward", "step": name, "by": way, "gpus": ranks, "layers": count,
                     "tokens": tokens, **model, "error": float(f"{error:.2g}"),
                     **summary(together.times(lambda: step(way)))})
    together.watchdog.says(f"{name} profile")
    (out / name).mkdir(parents=True, exist_ok=True)
    profile(lambda: step("bulk"), 2, out / name / f"rank{rank}.json")


def run_rank(rank, ranks, out):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29534", rank=rank,
                            world_size=ranks, device_id=torch.device("cuda", rank))
    from together import Lines, Together
    known = layers.operators_of
    layers.operators_of = lambda way: of_pytorch() if way == "pytorch" else known(way)
    together = Together(repeats=9)
    lines = Lines(out / "steps.jsonl")
    lines.write({"kind": "meta", "gpus": ranks, "device": torch.cuda.get_device_name(),
                 "torch": torch.__version__, "method": "slowest rank, from a common start"})
    with torch.no_grad():
        for name, size in SIZES.items():
            measure(name, size, out, lines, together)
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    out = parser.parse_args().output
    out.mkdir(parents=True, exist_ok=True)
    from together import on_all_gpus
    on_all_gpus(run_rank, out)


if __name__ == "__main__":
    main()
