"""GEMMs, copies and training steps for seconds: how the power limit slows them down."""
import time

import torch
import torch.nn.functional as F

from interference import watch

GEMMS = 24
REST_S = 4.0
GEMM_US, COPY_US = 730.0, 125.0    # of one, about


def mix(bench, gemm_share):
    """Two graphs of about 20 ms: GEMMs with copies among them for the rest of the time; without."""
    x, w = bench.operand(4096, 8192), [bench.operand(8192, 8192) for _ in range(4)]
    source, copied = (torch.ones(64 << 20, dtype=torch.int32, device="cuda") for _ in range(2))
    copies = round(GEMMS * GEMM_US * (1 / gemm_share - 1) / COPY_US)
    F.linear(x, w[0])
    torch.cuda.synchronize()
    graphs = []
    for with_copies in (True, False):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            done = 0
            for i in range(GEMMS):
                F.linear(x, w[i % 4])
                while with_copies and done < copies * (i + 1) // GEMMS:
                    copied.copy_(source)
                    done += 1
        graphs.append(graph)
    return graphs, copies


class Layer(torch.nn.Module):
    """Of a decoder, as of Llama 3 8B."""

    def __init__(self, hidden=4096, inner=14336, heads=32, kv_heads=8):
        super().__init__()
        self.heads, self.kv_heads, self.dim = heads, kv_heads, hidden // heads
        linear = lambda i, o: torch.nn.Linear(i, o, bias=False, device="cuda", dtype=torch.bfloat16)
        norm = lambda: torch.nn.RMSNorm(hidden, device="cuda", dtype=torch.bfloat16)
        self.norms = torch.nn.ModuleList([norm(), norm()])
        self.qkv = linear(hidden, (heads + 2 * kv_heads) * self.dim)
        self.out, self.up = linear(hidden, hidden), linear(hidden, 2 * inner)
        self.down = linear(inner, hidden)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norms[0](x)).split(
            [self.heads * self.dim, self.kv_heads * self.dim, self.kv_heads * self.dim], dim=-1)
        q, k, v = (t.view(batch, length, -1, self.dim).transpose(1, 2) for t in (q, k, v))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, -1))
        gate, up = self.up(self.norms[1](x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


def steps(layers, tokens):
    """Forward and backward of some layers, gradients added to those that are there."""
    model = torch.nn.Sequential(*(Layer() for _ in range(layers)))
    x = torch.randn(1, tokens, 4096, device="cuda", dtype=torch.bfloat16)

    def step():
        model(x).float().square().mean().backward()
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    return step


def timed(bench, work):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    bench.clocks.stamp(0)
    begin.record()
    work()
    end.record()
    bench.clocks.stamp(1)
    torch.cuda.synchronize()
    return round(begin.elapsed_time(end), 3), bench.clocks.sm_mhz()


def through(bench, work, seconds, probe=None):
    """For so long: seconds at, milliseconds and clock of each; now and then of the probe too."""
    seen, probed = [], []

    def go():
        begin = time.monotonic()
        while time.monotonic() < begin + seconds:
            at = round(time.monotonic() - begin, 3)
            seen.append((at, *timed(bench, work)))
            if probe is not None and len(seen) % 8 == 1:
                probed.append((at, *timed(bench, probe)))
    time.sleep(REST_S)
    watts = [round(w[1]) for w in watch(go)]
    some = lambda all_, first: all_[:first] + all_[first::max(1, len(all_) // 20)]
    return {"at_s_ms_mhz": some(seen, 12), "gemms_at_s_ms_mhz": some(probed, 3),
            "watts": some(watts, 0)}


def measure(bench):
    seconds = 1.0 if bench.quick else 5.0
    for share in ((1.0, 0.5) if bench.quick else (1.0, 0.85, 0.7, 0.5, 0.25)):
        (both, gemms), copies = mix(bench, share)
        bench.write({"kind": "sustained_mix", "gemms": GEMMS, "copies": copies, "gemm_share": share,
                     **through(bench, both.replay, seconds, gemms.replay)})
        del both, gemms
    for layers, tokens in ((4, 4096), (4, 8192)):
        bench.write({"kind": "sustained_step", "layers": layers, "tokens": tokens,
                     **through(bench, steps(layers, tokens), seconds)})
