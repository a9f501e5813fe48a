#!/usr/bin/env python3
"""Checks operators, gradients and torch.compile on all GPUs of a node.

    python3 calibration/torch/check.py
"""
import dataclasses
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "triton")]

SMALL = {
    "emb": {"batch": 64, "tables": 3, "dim": 64, "pooling": 5, "rows_per_table": 1000},
    "gemv": {"m": 512, "k": 1032},
    "gemm": {"m": 512, "n": 384, "k": 1088},
    "gemm_rs": {"m": 1024, "n": 256, "k": 1024},
    "ag_gemm": {"m": 1024, "n": 640, "k": 576},
}


def gathered(x):
    """The tensors of all ranks."""
    import torch
    import torch.distributed as dist
    all_ = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(all_, x.contiguous())
    return all_


def expect(name, got, expected, tolerance):
    import torch.distributed as dist
    from together import difference
    error = difference(got, expected)
    if dist.get_rank() == 0:
        print(f"{'ok   ' if error < tolerance else 'WRONG'} {name}: {error:.2g}", flush=True)
    return error < tolerance


def operands(name, changes=None):
    import torch
    import torch.distributed as dist
    torch.manual_seed(3 + dist.get_rank())
    shape = {**SMALL[name], **(changes or {})}
    if name == "emb":
        tables = torch.randn(shape["tables"], shape["rows_per_table"], shape["dim"], device="cuda")
        indices = torch.randint(shape["rows_per_table"],
                                (shape["batch"], shape["tables"], shape["pooling"]),
                                device="cuda", dtype=torch.int32)
        return tables, indices
    if name == "gemv":
        return (torch.randn(shape["m"], shape["k"], device="cuda", dtype=torch.float16),
                torch.randn(shape["k"], device="cuda", dtype=torch.float16) / 32)
    rows = shape["m"] // (dist.get_world_size() if name == "ag_gemm" else 1)
    return tuple(torch.randn(r, shape["k"], device="cuda", dtype=torch.bfloat16) / 8
                 for r in (rows, shape["n"]))


def all_ranks_results(name, first, second):
    """What every rank gets, computed by one graph from all ranks' operands, in fp32."""
    import torch
    ranks = len(first)
    if name == "emb":
        rows = [torch.stack([t[j][i[:, j].long()].sum(1) for j in range(t.shape[0])], 1)
                for t, i in zip(first, second)]
        per = rows[0].shape[0] // ranks
        return [torch.stack([r[me * per:(me + 1) * per] for r in rows]) for me in range(ranks)]
    if name == "gemv":
        return [sum(w @ x for w, x in zip(first, second))] * ranks
    if name == "ag_gemm":
        return [torch.cat(first) @ b.t() for b in second]
    products = [a @ b.t() for a, b in zip(first, second)]
    per = products[0].shape[0] // ranks
    own = [[p[me * per:(me + 1) * per] for p in products] for me in range(ranks)]
    return [torch.stack(o) if name == "gemm" else sum(o) for o in own]


def check_operator(name, operator, group, changes=None):
    import torch
    import torch.distributed as dist
    me = dist.get_rank()
    held = [x.requires_grad_(x.is_floating_point()) for x in operands(name, changes)]
    out = operator(*held, group)
    # The same weights of a loss on each rank where the result is the same on each.
    torch.manual_seed(11 if name == "gemv" else 11 + me)
    weight = torch.randn(out.shape, device="cuda").to(out.dtype)
    wanted = [x for x in held if x.requires_grad]
    gradients = torch.autograd.grad(out, wanted, weight)
    all_ = [[x.float().detach().requires_grad_() if x.is_floating_point() else x
             for x in gathered(h.detach())] for h in held]
    results = all_ranks_results(name, *all_)
    weights = gathered(weight.float())
    losses = [(r * w).sum() for r, w in zip(results, weights)]
    loss = losses[0] if name == "gemv" else sum(losses)
    expected = torch.autograd.grad(loss, [all_[i][me] for i, h in enumerate(held)
                                          if h.requires_grad])
    good = expect(f"{name}: result", out, results[me], 1e-2)
    for i, (got, want) in enumerate(zip(gradients, expected)):
        good &= expect(f"{name}: gradient {i}", got, want, 1e-2)
    return good


def check_triton(group):
    from weft_triton import operators as ours
    import torch
    import torch.distributed as dist
    small = ours.Config(64, 64, 64, warps=4, stages=3)
    together = dataclasses.replace(small, together=True)
    pointers = ours.Config(64, 64, 64, warps=4, stages=2, mixed=False, descriptors=False)
    each = [{"config": c} for c in (small, together, pointers)]
    good = True
    for name, operator, ways in (
            ("gemm", ours.gemm_all_to_all, each), ("gemm_rs", ours.gemm_reduce_scatter, each),
            ("ag_gemm", ours.all_gather_gemm,
             each + [{"config": small, "by": "engine"}, {"config": together, "by": "engine"}]),
            ("gemv", ours.gemv_all_reduce, [{}])):
        held = operands(name)
        expected = all_ranks_results(name, *[[x.float() for x in gathered(h)] for h in held])
        for way in ways:
            for _ in range(3):
                try:
                    got = operator(*held, group, **way)
                    torch.cuda.synchronize()
                    dist.barrier()
                    good &= expect(f"triton {name} {way}", got, expected[dist.get_rank()], 1e-2)
                except Exception as problem:
                    good = False
                    print(f"WRONG triton {name} {way}: {type(problem).__name__}: "
                          f"{str(problem)[-900:]}", flush=True)
                    break
    return good


def check_compiled(group):
    """torch.compile takes an operator and what is around it as one graph."""
    import torch
    import weft_fused
    a, b = operands("gemm_rs")

    def layer(a, b):
        return torch.relu(weft_fused.gemm_reduce_scatter(a * 2, b, group)).float() + 1
    compiled = torch.compile(layer, fullgraph=True)
    return expect("compiled", compiled(a, b), layer(a, b), 1e-3)


def run_rank(rank, ranks):
    import torch
    import torch.distributed as dist
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29532", rank=rank,
                            world_size=ranks, device_id=torch.device("cuda", rank))
    import weft_fused
    from together import Watchdog
    watchdog = Watchdog()
    group = dist.group.WORLD.group_name
    good = True
    for name, operator in (("emb", weft_fused.embedding_all_to_all),
                           ("gemv", weft_fused.gemv_all_reduce),
                           ("gemm", weft_fused.gemm_all_to_all),
                           ("gemm_rs", weft_fused.gemm_reduce_scatter),
                           ("ag_gemm", weft_fused.all_gather_gemm)):
        for _ in range(3):  # both halves of the buffers, and one again
            watchdog.says(f"check {name}")
            good &= check_operator(name, operator, group)
    # The wide tile, many of them, and steps that k does not fill.
    for name, changes in (("gemm", {"m": 4096, "n": 4096, "k": 1120}),
                          ("gemm_rs", {"m": 4096, "n": 4096, "k": 1056}),
                          ("ag_gemm", {"m": 8192, "n": 4096, "k": 608})):
        operator = {"gemm": weft_fused.gemm_all_to_all, "gemm_rs": weft_fused.gemm_reduce_scatter,
                    "ag_gemm": weft_fused.all_gather_gemm}[name]
        watchdog.says(f"check {name} {changes}")
        good &= check_operator(name, operator, group, changes)
    watchdog.says("check triton")
    good &= check_triton(group)
    watchdog.says("check compiled")
    good &= check_compiled(group)
    dist.barrier()
    sys.stdout.flush()
    os._exit(0 if good else 1)


def main():
    from together import on_all_gpus
    # Compiled graphs are cached by their operands alone, and do not suit another number of ranks.
    os.environ["TORCHINDUCTOR_FX_GRAPH_CACHE"] = "0"
    on_all_gpus(run_rank)
    print("all hold")


if __name__ == "__main__":
    main()
