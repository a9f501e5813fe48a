"""Norms, activations, residuals, rotary, cross-entropy, optimisers: eager and compiled."""
import random

import torch
import torch.nn.functional as F

from timing import log_uniform, multiple


def rms_norm(x, w):
    return F.rms_norm(x, (x.shape[-1],), w, 1e-6)


def add_rms_norm(x, r, w):
    h = x + r
    return h, F.rms_norm(h, (h.shape[-1],), w, 1e-6)


def layer_norm(x, w, b):
    return F.layer_norm(x, (x.shape[-1],), w, b)


def swiglu(x):
    gate, up = x.chunk(2, -1)
    return F.silu(gate) * up


def gelu(x):
    return F.gelu(x, approximate="tanh")


def residual(x, r):
    return x + r


def rotary(x, cos, sin):                 # x: tokens, heads, head_dim
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


def cross_entropy(x, target):
    return F.cross_entropy(x.float(), target)


def operands(bench, name, tokens, width):
    """What is differentiated, what is not, elements of the output."""
    if name == "rms_norm":
        return [bench.operand(tokens, width), bench.operand(width)], []
    if name == "add_rms_norm":
        return [*(bench.operand(tokens, width) for _ in range(2)), bench.operand(width)], []
    if name == "layer_norm":
        return [bench.operand(tokens, width), bench.operand(width), bench.operand(width)], []
    if name == "swiglu":
        return [bench.operand(tokens, 2 * width)], []
    if name == "gelu":
        return [bench.operand(tokens, width)], []
    if name == "residual":
        return [bench.operand(tokens, width), bench.operand(tokens, width)], []
    if name == "rotary":
        return ([bench.operand(tokens, width // 128, 128)],
                [bench.operand(tokens, 1, 128), bench.operand(tokens, 1, 128)])
    return ([bench.operand(tokens, width)],
            [torch.randint(width, (tokens,), device="cuda")])


FUNCTIONS = {f.__name__: f for f in (rms_norm, add_rms_norm, layer_norm, swiglu, gelu, residual,
                                     rotary, cross_entropy)}


def forward_calls(bench, name, function, tokens, width):
    sets = []
    for _ in range(min(12, bench.sets_for(2 * tokens * width))):
        given, other = operands(bench, name, tokens, width)
        sets.append(lambda a=(*given, *other): function(*a))
    return sets


def both_calls(bench, name, function, tokens, width):
    calls = []
    for _ in range(min(6, bench.sets_for(4 * tokens * width))):
        given, other = operands(bench, name, tokens, width)
        given = [x.detach().requires_grad_(True) for x in given]
        with torch.no_grad():
            shaped = FUNCTIONS[name](*given, *other)
        outs = shaped if isinstance(shaped, tuple) else (shaped,)
        gradients = [bench.operand(*o.shape) if o.dtype == torch.bfloat16 else torch.ones_like(o)
                     for o in outs]

        def both(given=given, other=other, gradients=gradients):
            result = function(*given, *other)
            results = result if isinstance(result, tuple) else (result,)
            torch.autograd.grad(results, given, gradients)
        calls.append(both)
    return calls


def shapes(rng, name, count):
    for _ in range(count):
        if name == "cross_entropy":
            yield (multiple(log_uniform(rng, 512, 16384), 64),
                   rng.choice((32000, 50304, 65536, 128256)))
        else:
            yield (multiple(log_uniform(rng, 64, 32768), 8),
                   rng.choice((1024, 2048, 3584, 4096, 5120, 8192, 12288, 14336)))


def adamw_calls(bench, sizes, dtype):
    def one():
        p, g, m, v = ([torch.rand(s, dtype=dtype, device="cuda") for s in sizes] for _ in range(4))
        steps = [torch.ones((), device="cuda") for _ in sizes]
        return lambda: torch._fused_adamw_(p, g, m, v, [], steps, lr=1e-6, beta1=0.9, beta2=0.95,
                                           weight_decay=0.1, eps=1e-8, amsgrad=False,
                                           maximize=False)
    return [one() for _ in range(min(8, bench.sets_for(4 * sum(sizes) * dtype.itemsize) - 1))]


def measure_optimizers(bench):
    rng = random.Random(51 + bench.seed)
    for i in range(3 if bench.quick else 18):
        weights = int(log_uniform(rng, 1e6, 6e8))
        tensors = rng.choice((1, 4, 16, 64))
        dtype = (torch.float32, torch.bfloat16)[i % 2]
        sizes = [weights // tensors // 8 * 8] * tensors
        bench.run("adamw_fused", {"weights": sum(sizes), "tensors": tensors,
                                  "dtype": "fp32" if dtype == torch.float32 else "bf16"},
                  lambda: adamw_calls(bench, sizes, dtype))


def measure(bench):
    measure_optimizers(bench)
    for how, count in (("eager", 1 if bench.quick else 9), ("compiled", 1 if bench.quick else 4)):
        rng = random.Random(50 + bench.seed)
        for name, plain in FUNCTIONS.items():
            if how == "eager" and name in ("add_rms_norm", "swiglu", "rotary"):
                continue                       # nobody runs them so
            for tokens, width in shapes(rng, name, count):
                if name == "cross_entropy" and tokens * width > 1 << 30:
                    continue
                if bench.late():
                    return
                function = plain
                if how == "compiled":
                    torch._dynamo.reset()
                    function = torch.compile(plain, dynamic=False)
                facts = {"op": name, "how": how, "tokens": tokens, "width": width}
                with torch.no_grad():
                    bench.run("fused", {**facts, "pass": "forward"},
                              lambda: forward_calls(bench, name, function, tokens, width))
                bench.run("fused", {**facts, "pass": "both"},
                          lambda: both_calls(bench, name, function, tokens, width))
