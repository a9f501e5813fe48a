"""Gradients of weights by the library's GEMM: written in bf16, in fp32, and added to fp32 ones, as
Megatron-LM and Transformer Engine sum over microbatches; an addition by itself, as PyTorch does."""
import ctypes
import random

import torch

from timing import log_uniform, multiple

BF16, FP32, COMPUTE_FP32, DEFAULT_TENSOR_OP = 14, 0, 68, 99    # cublas_api.h, library_types.h
NORMAL, TRANSPOSED = 0, 1

# hidden, inner, columns of q, k and v, of one GPU: Llama 3 8B and 70B, GPT-3, Nemotron-4 340B
LAYERS = {"llama3_8b": (4096, 14336, 6144), "llama3_70b/8": (8192, 3584, 1280),
          "gpt3/4": (12288, 12288, 9216), "nemotron4/8": (18432, 9216, 2688)}


class Cublas:
    """cublasGemmEx on the current stream: dW[out][in] = dY^T X (+ dW), dY and X by tokens."""

    def __init__(self):
        for name in ("libcublas.so.13", "libcublas.so.12"):
            try:
                self.library = ctypes.CDLL(name)
                break
            except OSError:
                continue
        self.handle = ctypes.c_void_p()
        self.check(self.library.cublasCreate_v2(ctypes.byref(self.handle)))
        self.workspace = torch.empty(32 << 20, dtype=torch.uint8, device="cuda")

    @staticmethod
    def check(status):
        if status != 0:
            raise RuntimeError(f"cublas: error {status}")

    def __call__(self, dy, x, dw, beta):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.check(self.library.cublasSetStream_v2(self.handle, stream))
        self.check(self.library.cublasSetWorkspace_v2(
            self.handle, ctypes.c_void_p(self.workspace.data_ptr()), ctypes.c_size_t(32 << 20)))
        tokens, out = dy.shape
        into = x.shape[1]
        alpha, beta = ctypes.c_float(1), ctypes.c_float(beta)
        pointer = lambda t: ctypes.c_void_p(t.data_ptr())
        self.check(self.library.cublasGemmEx(
            self.handle, NORMAL, TRANSPOSED, into, out, tokens, ctypes.byref(alpha),
            pointer(x), BF16, into, pointer(dy), BF16, out, ctypes.byref(beta), pointer(dw),
            FP32 if dw.dtype == torch.float32 else BF16, into, COMPUTE_FP32, DEFAULT_TENSOR_OP))


def shapes(bench):
    rng = random.Random(70 + bench.seed)
    drawn = []
    while len(drawn) < (3 if bench.quick else 40):
        out, into = (multiple(log_uniform(rng, 512, 16384), 64) for _ in range(2))
        tokens = multiple(log_uniform(rng, 256, 16384), 64)
        if out * into <= 1 << 28:
            drawn.append({"out": out, "in": into, "tokens": tokens, "from": "random"})
    for name, (hidden, inner, qkv) in LAYERS.items():
        for tokens in ((2048,) if bench.quick else (1024, 2048, 4096, 8192)):
            for out, into in ((inner, hidden), (hidden, inner), (qkv, hidden)):
                drawn.append({"out": out, "in": into, "tokens": tokens, "from": name})
    return drawn


def check(cublas, bench):
    dy, x = bench.operand(512, 256), bench.operand(512, 384)
    for dtype, beta in ((torch.bfloat16, 0), (torch.float32, 0), (torch.float32, 1)):
        dw = torch.full((256, 384), 3.0, device="cuda", dtype=dtype)
        cublas(dy, x, dw, beta)
        right = dy.float().t() @ x.float() + 3.0 * beta
        worst = (dw.float() - right).abs().max().item() / right.abs().max().item()
        if worst > 0.02:
            raise RuntimeError(f"cublasGemmEx is off by {worst}")


def measure(bench):
    cublas = Cublas()
    check(cublas, bench)
    variants = (("bf16", torch.bfloat16, 0.0), ("fp32", torch.float32, 0.0),
                ("fp32, added", torch.float32, 1.0))
    for shape in shapes(bench):
        out, into, tokens = shape["out"], shape["in"], shape["tokens"]
        for name, dtype, beta in variants:
            def calls(dtype=dtype, beta=beta):
                sets = max(2, min(8, bench.sets_for(4 * out * into)))
                made = []
                for _ in range(sets):
                    dy, x = bench.operand(tokens, out), bench.operand(tokens, into)
                    dw = torch.zeros(out, into, device="cuda", dtype=dtype)
                    made.append(lambda dy=dy, x=x, dw=dw: cublas(dy, x, dw, beta))
                return made
            bench.run("weight_gradient", {**shape, "result": name}, calls)

        def added():
            made = []
            for _ in range(2):
                total = torch.zeros(out, into, device="cuda", dtype=torch.bfloat16)
                new = bench.operand(out, into)
                made.append(lambda total=total, new=new: total.add_(new))
            return made
        if shape["from"] != "random" and tokens == 2048:
            bench.run("gradient_add", {"elements": out * into, "dtype_bytes": 2}, added)
