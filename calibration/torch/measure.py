#!/usr/bin/env python3
"""Measures operators in bulk, in chunks, as PyTorch fuses them and as we do; JSON lines out.

    python3 calibration/torch/measure.py -o OUT.jsonl             # all GPUs of the node
    python3 calibration/torch/measure.py -o OUT.jsonl --quick     # two shapes of each operator

It needs weft_fused installed (README.md). One process for each GPU is started here.
"""
import argparse
import os
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "triton")]

import shapes_measured  # noqa: E402

LEAST_SENT = {"hip": 8, "triton": 16}  # rows, of all-gather + GEMM
ALONE = ("compute", "comm", "hip_compute")  # half an operator: no result to check


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", help="the file of lines")
    parser.add_argument("--only", default=",".join(shapes_measured.OPERATORS),
                        help="operators, by commas")
    parser.add_argument("--by", default="", help="ways, by commas (ways.py); bulk is always run")
    parser.add_argument("--quick", action="store_true", help="two shapes of each operator")
    parser.add_argument("--configs", action="store_true",
                        help="our Triton kernels with all named configurations, few shapes")
    parser.add_argument("--few-columns", action="store_true",
                        help="of all-gather + GEMM, shapes in which sending takes longest")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1e9, help="for all operators together")
    parser.add_argument("--port", type=int, default=29531)
    return parser.parse_args()


def facts(ranks, options):
    import torch
    import triton
    properties = torch.cuda.get_device_properties(0)
    return {"kind": "meta", "date": time.strftime("%Y-%m-%d"), "gpus": ranks,
            "device": properties.name, "units": properties.multi_processor_count,
            "torch": torch.__version__, "cuda": torch.version.cuda, "hip": torch.version.hip,
            "nccl": ".".join(map(str, torch.cuda.nccl.version())), "triton": triton.__version__,
            "repeats": options.repeats,
            "method": "slowest rank, from a common start; calibration/torch/README.md"}


def selected(operator, ranks, options):
    few = options.few_columns and operator == "ag_gemm"
    all_ = (shapes_measured.few_columns if few else shapes_measured.OPERATORS[operator])(ranks)
    if options.quick:
        return all_[:1] + all_[-1:]
    if options.configs:
        return all_[::9] if operator == "gemv" else [s for s in all_ if s["m"] == 4096][:8:3]
    return all_


def tile_of_hip():
    """Of the GEMMs, as setup.py builds for the GPU that is there."""
    import torch
    named = os.environ.get("TORCH_CUDA_ARCH_LIST", "9.0")
    hopper = not torch.version.hip and torch.cuda.get_device_capability() == (9, 0)
    return "wgmma" if hopper and named in ("9.0", "9.0a") else "plain"


class Measuring:
    def __init__(self, options):
        import torch.distributed as dist
        from together import Lines, Together
        from ways import Overlap
        self.options, self.dist = options, dist
        self.group = dist.group.WORLD.group_name
        self.ranks = dist.get_world_size()
        self.together, self.overlap = Together(options.repeats), Overlap()
        self.lines = Lines(options.out)
        self.lines.write(facts(self.ranks, options))
        self.began, self.wrong = time.monotonic(), 0

    def say(self, text):
        if self.dist.get_rank() == 0:
            print(f"{time.monotonic() - self.began:6.1f} s {text}", flush=True)

    def late(self):
        """As rank 0 says, so that all end together."""
        import torch
        over = torch.tensor([float(time.monotonic() - self.began > self.options.seconds)],
                            device="cuda")
        self.dist.broadcast(over, 0)
        return bool(over.item())

    def result_of(self, way):
        import torch
        if way.result is not None:
            way.result.fill_(float("nan"))
        torch.cuda.synchronize()
        self.dist.barrier()
        got = way.call()
        torch.cuda.synchronize()
        return way.result if way.result is not None else got

    def shape(self, operator, shape):
        from together import difference, summary
        from ways import WAYS, forget_outputs
        from weft_fused.shapes import rows_sent_at_once
        more = (True,) if self.options.configs and operator != "emb" else ()
        ways, tolerance = WAYS[operator](shape, self.group, self.overlap, *more)
        wanted = self.options.by.split(",") if self.options.by else list(ways)
        expected, seen = None, []
        for name in ["bulk", *(w for w in ways if w != "bulk" and w in wanted)]:
            self.together.watchdog.says(f"{operator} {name} {shape}")
            try:
                line = {"kind": operator, "by": name, "gpus": self.ranks, **shape}
                if name not in ALONE:
                    got = self.result_of(ways[name]).view(-1)
                    if name == "bulk":
                        expected = got.clone()
                    error = difference(got, expected)
                    if not error < tolerance:
                        raise RuntimeError(f"wrong by {error}")
                    line["error"] = float(f"{error:.2g}")
                if name == "hip" and "gemm" in operator:
                    line["tile"] = tile_of_hip()
                if operator == "ag_gemm" and name in LEAST_SENT:
                    line["rows_at_once"] = rows_sent_at_once(shape["m"] // self.ranks, shape["k"],
                                                             LEAST_SENT[name])
                line.update(summary(self.together.times(ways[name].call)))
                self.lines.write(line)
                seen.append(f"{name} {line['us']:.1f}")
            except Exception as problem:
                self.wrong += 1
                text = f"{type(problem).__name__}: {str(problem)[:300]}"
                self.say(f"left out: {operator} {name} {shape}: {text}")
                if self.wrong < 4 and self.dist.get_rank() == 0:
                    traceback.print_exc(limit=-6)
        del ways, expected
        forget_outputs()
        self.say(f"{operator} {' '.join(f'{k}={v}' for k, v in shape.items())}: "
                 + ", ".join(seen))

    def all(self):
        for operator in self.options.only.split(","):
            for shape in selected(operator, self.ranks, self.options):
                if self.late():
                    self.say("out of time")
                    return
                self.shape(operator, shape)


def run_rank(rank, ranks, options):
    import torch
    import torch.distributed as dist
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{options.port}", rank=rank,
                            world_size=ranks, device_id=torch.device("cuda", rank))
    measuring = Measuring(options)
    measuring.all()
    measuring.say(f"done, {measuring.wrong} left out")
    torch.cuda.synchronize()
    dist.barrier()
    sys.stdout.flush()
    os._exit(1 if measuring.wrong else 0)  # symmetric memory is not taken down in any order


def main():
    options = arguments()
    from together import on_all_gpus
    on_all_gpus(run_rank, options)


if __name__ == "__main__":
    main()
