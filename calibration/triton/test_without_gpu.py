#!/usr/bin/env python3
"""The Triton kernels without a GPU: each on several ranks, as Python, by stand_in.py.

    python3 calibration/triton/test_without_gpu.py

Needs numpy. The stand-in is used also where Triton is installed; what that leaves out is said.
"""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

try:
    import numpy as np
except ImportError:
    np = None

if np is not None:
    import stand_in
    stand_in.install()
    from weft_triton import (communication, kernel_all_gather_gemm, kernel_gemm_all_to_all,
                             kernel_gemm_reduce_scatter, kernel_gemv_all_reduce)

BM, BN, BK = 16, 8, 4
TILE = {"BM": BM, "BN": BN, "BK": BK, "GROUP": 2}


@unittest.skipIf(np is None, "numpy is not installed: no kernel was run")
class Kernels(unittest.TestCase):
    def setUp(self):
        stand_in.reset()
        self.rng = np.random.default_rng(1)
        self.counted = []

    def numbers(self, *shape):
        return self.rng.integers(-4, 5, shape).astype(np.float32)

    def ranks(self, count, data_of_rank, flags):
        """Contexts of all ranks, and views of the data that peers store."""
        data = [stand_in.allocate(np.full(data_of_rank, np.nan, np.float32)) for _ in range(count)]
        flag = [stand_in.allocate(np.zeros(flags, np.int32)) for _ in range(count)]
        contexts = [stand_in.allocate(np.array(
            [me, count, *(int(d[0].address) for d in data), *(int(f[0].address) for f in flag)],
            np.int64))[0] for me in range(count)]
        return contexts, [d[1] for d in data], data

    def counters(self, size):
        pointer, view = stand_in.allocate(np.zeros(size, np.int32))
        self.counted.append(view)
        return pointer

    def run_ranks(self, kernel, programs, arguments):
        stand_in.run_ranks(kernel, programs, arguments)
        self.assertFalse(any(view.any() for view in self.counted), "a counter was not cleared")
        self.counted = []

    def operand(self, matrix, block, descriptors):
        pointer, _ = stand_in.allocate(matrix)
        return stand_in.Matrix(pointer, matrix.shape[1], block) if descriptors else pointer

    def each_case(self):
        for ranks in (2, 3):
            for programs in (2, 3, 7):
                for descriptors in (False, True):
                    with self.subTest(ranks=ranks, programs=programs, descriptors=descriptors):
                        stand_in.reset()
                        yield ranks, programs, descriptors

    def test_gemm_all_to_all(self):
        rows, n, k = 48, 24, 12
        for ranks, programs, descriptors in self.each_case():
            a = [self.numbers(ranks * rows, k) for _ in range(ranks)]
            b = [self.numbers(n, k) for _ in range(ranks)]
            for mixed in (False, True):
                contexts, out, _ = self.ranks(ranks, (ranks, rows, n), ranks)
                for run in (1, 2):
                    self.run_ranks(kernel_gemm_all_to_all.gemm_all_to_all, programs, [
                        {"a": self.operand(a[r], (BM, BK), descriptors),
                         "b": self.operand(b[r], (BN, BK), descriptors), "context": contexts[r],
                         "counters": self.counters(ranks), "run": run, "rows": rows, "N": n,
                         "K": k, "MIXED": mixed, "DESCRIPTORS": descriptors, **TILE}
                        for r in range(ranks)])
                for me in range(ranks):
                    for source in range(ranks):
                        c = a[source] @ b[source].T
                        np.testing.assert_array_equal(out[me][source],
                                                      c[me * rows:(me + 1) * rows])

    def test_gemm_reduce_scatter(self):
        rows, n, k = 48, 24, 12
        for ranks, programs, descriptors in self.each_case():
            a = [self.numbers(ranks * rows, k) for _ in range(ranks)]
            b = [self.numbers(n, k) for _ in range(ranks)]
            all_ = sum(x @ y.T for x, y in zip(a, b))
            for paired in (False, True):
                contexts, _, _ = self.ranks(ranks, (ranks, rows, n), ranks * rows * n)
                sums = [stand_in.allocate(np.full((rows, n), np.nan, np.float32))
                        for _ in range(ranks)]
                self.run_ranks(kernel_gemm_reduce_scatter.gemm_reduce_scatter, programs, [
                    {"a": self.operand(a[r], (BM, BK), descriptors),
                     "b": self.operand(b[r], (BN, BK), descriptors), "sums": sums[r][0],
                     "context": contexts[r], "run": 3, "rows": rows, "N": n, "K": k,
                     "PAIRED": paired, "DESCRIPTORS": descriptors, **TILE} for r in range(ranks)])
                for me in range(ranks):
                    np.testing.assert_array_equal(sums[me][1], all_[me * rows:(me + 1) * rows])

    def test_all_gather_gemm(self):
        rows, n, k = 64, 24, 16
        for ranks, programs, descriptors in self.each_case():
            shards = [self.numbers(rows, k) for _ in range(ranks)]
            b = [self.numbers(n, k) for _ in range(ranks)]
            down, across = rows // BM, n // BN
            for flag_rows, at_once, senders, shared, head in (
                    (16, 8, 1, False, across), (32, 16, 2, False, across), (16, 8, 1, True, 0),
                    (16, 16, 2, True, 2), (32, 8, 1, True, across)):
                contexts, _, data = self.ranks(ranks, (ranks * rows, k), ranks * rows)
                c = [stand_in.allocate(np.full((ranks * rows, n), np.nan, np.float32))
                     for _ in range(ranks)]
                self.run_ranks(kernel_all_gather_gemm.all_gather_gemm, programs, [
                    {"a_own": self.operand(shards[r], (BM, BK), descriptors),
                     "a_all": stand_in.Matrix(data[r][0], k, (BM, BK)) if descriptors
                     else data[r][0],
                     "b": self.operand(b[r], (BN, BK), descriptors),
                     "shard": stand_in.allocate(shards[r])[0], "c": c[r][0],
                     "context": contexts[r], "counters": self.counters(ranks * rows),
                     "queue": self.counters(2), "run": 5, "rows": rows, "N": n, "K": k,
                     "flag_rows": flag_rows, "senders": senders, "at_once": at_once, "SR": 8,
                     "SK": 8,
                     "SENDS": True, "SHARED": shared, "head": head * down,
                     "DESCRIPTORS": descriptors, **TILE} for r in range(ranks)])
                for me in range(ranks):
                    np.testing.assert_array_equal(c[me][1], np.concatenate(shards) @ b[me].T)

    def test_gemv_all_reduce(self):
        m, k = 96, 20
        for ranks, programs, _ in self.each_case():
            w = [self.numbers(m, k) for _ in range(ranks)]
            x = [self.numbers(k) for _ in range(ranks)]
            contexts, _, _ = self.ranks(ranks, (ranks, m), ranks * m)
            y = [stand_in.allocate(np.full(m, np.nan, np.float32)) for _ in range(ranks)]
            self.run_ranks(kernel_gemv_all_reduce.gemv_all_reduce, programs, [
                {"w": stand_in.allocate(w[r])[0], "x": stand_in.allocate(x[r])[0], "y": y[r][0],
                 "context": contexts[r], "run": 9, "M": m, "K": k, "BM": 8, "BK": 16,
                 "STAGES": 2}
                for r in range(ranks)])
            for me in range(ranks):
                np.testing.assert_array_equal(y[me][1], sum(p @ q for p, q in zip(w, x)))

    def test_example_of_the_readme(self):
        """The kernel in README.md, as it stands there."""
        with open(os.path.join(HERE, "README.md"), encoding="utf-8") as readme:
            code = readme.read().split("```python\n")[1].split("```")[0]
        found = {}
        exec(code, found)
        for ranks in (2, 3):
            stand_in.reset()
            contexts, _, _ = self.ranks(ranks, (ranks, 32), ranks)
            x = [self.numbers(32) for _ in range(ranks)]
            y = [stand_in.allocate(np.zeros(32, np.float32)) for _ in range(ranks)]
            self.run_ranks(found["add_all"], 1, [
                {"x": stand_in.allocate(x[r])[0], "y": y[r][0], "context": contexts[r], "run": 1,
                 "BLOCK": 32} for r in range(ranks)])
            for me in range(ranks):
                np.testing.assert_array_equal(y[me][1], sum(x))

    def test_put_signal_and_fence(self):
        contexts, _, data = self.ranks(2, (8,), 2)

        def kernel(context):
            me = communication.my_rank(context)
            to = communication.peer_pointer(context, 1 - me, np.float32)
            communication.put(to, 2.0)
            communication.fence()
            communication.put_signal(to + 1, me + 1.0,
                                     communication.flag_pointer(context, 1 - me), 4)
            communication.wait(communication.flag_pointer(context, me), 4)
        stand_in.run_ranks(kernel, 1, [{"context": c} for c in contexts])
        self.assertEqual([float(d[1][1]) for d in data], [2.0, 1.0])


if __name__ == "__main__":
    print("not tested here: what Triton's compiler makes of the kernels (check.py, on GPUs)")
    unittest.main()
