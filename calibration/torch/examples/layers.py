#!/usr/bin/env python3
"""Two layers that switch between bulk and fused by one argument: as of DLRM and as of Llama.

    python3 calibration/torch/examples/layers.py              # all GPUs of the node

Prints how far the results are apart, and the time of each.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TORCH = os.path.dirname(HERE)
sys.path[:0] = [TORCH, os.path.join(os.path.dirname(TORCH), "triton")]

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.nn.functional as F  # noqa: E402


def operators_of(way):
    """`way`: "bulk", "fused" (the harness's kernels) or "triton"."""
    import weft_fused
    if way == "triton":
        from weft_triton import operators
        return operators
    return {"bulk": weft_fused.bulk, "fused": weft_fused}[way]


class DlrmForward(torch.nn.Module):
    """Each rank has some tables, and a part of the samples: a bottom MLP, the pooled rows of all
    tables for the own samples, products of all pairs of them, a top MLP."""

    def __init__(self, group, tables=32, rows=100000, dim=128):
        super().__init__()
        self.group, self.dim = group, dim
        self.tables = torch.nn.Parameter(torch.randn(tables, rows, dim, device="cuda") / 16)
        features = tables * dist.get_world_size() + 1
        self.bottom = torch.nn.Sequential(
            torch.nn.Linear(256, 512, device="cuda"), torch.nn.ReLU(),
            torch.nn.Linear(512, dim, device="cuda"), torch.nn.ReLU())
        self.top = torch.nn.Sequential(
            torch.nn.Linear(features * features + dim, 1024, device="cuda"), torch.nn.ReLU(),
            torch.nn.Linear(1024, 1, device="cuda"))

    def forward(self, dense, indices, way):
        rows = operators_of("fused" if way == "triton" else way).embedding_all_to_all(
            self.tables, indices, self.group)  # source, sample, table, dim
        bottom = self.bottom(dense)
        pooled = rows.transpose(0, 1).reshape(dense.shape[0], -1, self.dim)
        all_ = torch.cat([bottom.unsqueeze(1), pooled], 1)
        pairs = torch.bmm(all_, all_.transpose(1, 2)).flatten(1)
        return self.top(torch.cat([pairs, bottom], 1))


class LlamaLayer(torch.nn.Module):
    """Tensor parallelism with the tokens spread over the ranks between the products."""

    def __init__(self, group, hidden=4096, ffn=14336, heads=32, kv_heads=8):
        super().__init__()
        self.group, ranks = group, dist.get_world_size()
        self.heads, self.kv_heads = heads // ranks, kv_heads // ranks

        def weight(n, k):
            return torch.nn.Parameter(
                torch.randn(n, k, device="cuda", dtype=torch.bfloat16) / k**0.5)
        self.qkv = weight((heads + 2 * kv_heads) * 128 // ranks, hidden)
        self.out = weight(hidden, heads * 128 // ranks)
        self.gate_up = weight(2 * ffn // ranks, hidden)
        self.down = weight(hidden, ffn // ranks)

    def attention(self, qkv):
        tokens = qkv.shape[0]
        q, k, v = qkv.view(tokens, -1, 128).transpose(0, 1).split(
            (self.heads, self.kv_heads, self.kv_heads))
        made = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True,
                                              enable_gqa=True)
        return made[0].transpose(0, 1).reshape(tokens, -1)

    def forward(self, x, way):  # x: tokens of this rank, hidden
        ops = operators_of(way)
        h = F.rms_norm(x, x.shape[-1:])
        x = x + ops.gemm_reduce_scatter(
            self.attention(ops.all_gather_gemm(h, self.qkv, self.group)), self.out, self.group)
        gate, up = ops.all_gather_gemm(F.rms_norm(x, x.shape[-1:]), self.gate_up,
                                       self.group).chunk(2, -1)
        return x + ops.gemm_reduce_scatter(F.silu(gate) * up, self.down, self.group)


def compare(name, layer, arguments, together):
    from together import difference, summary
    with torch.no_grad():
        expected = layer(*arguments, "bulk")
        for way in ("bulk", "fused", "triton"):
            together.watchdog.says(f"{name} {way}")
            error = difference(layer(*arguments, way), expected)
            us = summary(together.times(lambda: layer(*arguments, way)))["us"]
            if dist.get_rank() == 0:
                print(f"{name:10s} {way:7s} {us:9.1f} us   off by {error:.1e}", flush=True)
            if not error < 2e-2:
                raise RuntimeError(f"{name}, {way}: wrong by {error}")


def run_rank(rank, ranks):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29533", rank=rank,
                            world_size=ranks, device_id=torch.device("cuda", rank))
    from together import Together
    together = Together(repeats=9)
    group = dist.group.WORLD.group_name
    torch.manual_seed(rank)
    dlrm = DlrmForward(group)
    samples = 2048
    compare("DLRM", dlrm, (torch.randn(samples // ranks, 256, device="cuda"), torch.randint(
        100000, (samples, 32, 20), device="cuda", dtype=torch.int32)), together)
    for tokens in (1024, 8192):
        x = torch.randn(tokens // ranks, 4096, device="cuda", dtype=torch.bfloat16)
        compare(f"Llama {tokens}", LlamaLayer(group), (x,), together)
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    from together import on_all_gpus
    on_all_gpus(run_rank)
