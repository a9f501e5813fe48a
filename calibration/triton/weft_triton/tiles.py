"""Tiles of C = A B^T in bf16, which the GEMM kernels have in common. B is (n, k)."""
import triton
import triton.language as tl


@triton.jit
def place(tile, down, across, GROUP: tl.constexpr):
    """Row and column of a tile, of `down` x `across`: columns of GROUP rows, so that tiles made at
    the same time share rows of A and B in the L2."""
    whole = GROUP * across
    first = tile // whole * GROUP
    height = tl.minimum(down - first, GROUP)
    return first + tile % whole % height, tile % whole // height


@triton.jit
def multiply(a, b, row, column, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
             DESCRIPTORS: tl.constexpr):
    """Rows `row`... of A times rows `column`... of B, in fp32. A and B are tensor descriptors,
    which the copy engine of Hopper's SMs reads by, or pointers."""
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    if DESCRIPTORS:
        for k in range(0, K, BK):
            acc = tl.dot(a.load([row, k]), b.load([column, k]).T, acc)
    else:
        ks = tl.arange(0, BK)
        at_a = a + (row + tl.arange(0, BM)).to(tl.int64)[:, None] * K + ks[None, :]
        at_b = b + (column + tl.arange(0, BN)).to(tl.int64)[None, :] * K + ks[:, None]
        for _ in range(0, K, BK):
            acc = tl.dot(tl.load(at_a), tl.load(at_b), acc)
            at_a += BK
            at_b += BK
    return acc


@triton.jit
def offsets(row, column, N, BM: tl.constexpr, BN: tl.constexpr):
    """Of a tile's elements in a matrix of N columns."""
    rows = (row + tl.arange(0, BM)).to(tl.int64)
    return rows[:, None] * N + (column + tl.arange(0, BN))[None, :]
