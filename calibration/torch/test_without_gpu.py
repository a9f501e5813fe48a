#!/usr/bin/env python3
"""What of the operators needs no GPU: shapes, fake functions, bulk's indices, measured shapes.

    python3 calibration/torch/test_without_gpu.py

Debian 12's PyTorch 1.13 has neither torch.library.custom_op nor symmetric memory: with it the fake
functions are called as functions, on meta tensors, and nothing is registered. With PyTorch 2.4 or
later they are also called through torch.ops. What was not tested is said.
"""
import importlib.util
import os
import sys
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "src")]

import shapes_measured  # noqa: E402

try:
    import torch
except ImportError:
    torch = None


def module_of(name):
    """A module of the package by itself: the package needs torch, this one does not."""
    at = os.path.join(HERE, "src", "weft_fused", f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"alone_{name}", at)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


shapes = module_of("shapes")


class Shapes(unittest.TestCase):
    def test_results(self):
        self.assertEqual(shapes.embedding_all_to_all((3, 100, 64), (8, 3, 5), 2), (2, 4, 3, 64))
        self.assertEqual(shapes.gemm_all_to_all((512, 64), (128, 64), 2), (2, 256, 128))
        self.assertEqual(shapes.gemm_reduce_scatter((512, 64), (128, 64), 4), (128, 128))
        self.assertEqual(shapes.all_gather_gemm((256, 64), (128, 64), 4), (1024, 128))
        self.assertEqual(shapes.gemv_all_reduce((64, 24), (24,), 2), (64,))

    def test_what_kernels_cannot_take(self):
        for call, text in (
                (lambda: shapes.gemm_all_to_all((300, 64), (128, 64), 2), "m is a multiple"),
                (lambda: shapes.gemm_all_to_all((512, 64), (130, 64), 2), "n is a multiple"),
                (lambda: shapes.gemm_all_to_all((512, 40), (128, 40), 2), "k is a multiple"),
                (lambda: shapes.gemm_all_to_all((512, 64), (128, 32), 2), "columns"),
                (lambda: shapes.gemm_all_to_all((512, 64), (128, 64), 17), "ranks"),
                (lambda: shapes.embedding_all_to_all((3, 9, 48), (8, 3, 5), 2), "dim is"),
                (lambda: shapes.embedding_all_to_all((3, 9, 64), (8, 4, 5), 2), "tables"),
                (lambda: shapes.embedding_all_to_all((3, 9, 64), (9, 3, 5), 2), "samples"),
                (lambda: shapes.gemv_all_reduce((64, 20), (20,), 2), "k is a multiple"),
                (lambda: shapes.gemv_all_reduce((72, 24), (24,), 2), "m is a multiple")):
            with self.assertRaisesRegex(ValueError, text):
                call()

    def test_slices(self):
        self.assertEqual([shapes.rows_per_wg(r) for r in (96, 64, 12, 7)], [32, 32, 4, 1])


class Measured(unittest.TestCase):
    def test_every_measured_shape_is_possible(self):
        results = {"gemm": shapes.gemm_all_to_all, "gemm_rs": shapes.gemm_reduce_scatter}
        for name, of in shapes_measured.OPERATORS.items():
            found = of(2)
            self.assertGreaterEqual(len(found), 25, name)
            self.assertEqual(len({tuple(s.items()) for s in found}), len(found), name)
            for s in found:
                if name in results:
                    results[name]((s["m"], s["k"]), (s["n"], s["k"]), 2)
                elif name == "ag_gemm":
                    shapes.all_gather_gemm((s["m"] // 2, s["k"]), (s["n"], s["k"]), 2)
                elif name == "gemv":
                    shapes.gemv_all_reduce((s["m"], s["k"]), (s["k"],), 2)
                else:
                    shapes.embedding_all_to_all(
                        (s["tables"], s["rows_per_table"], s["dim"]),
                        (s["batch"], s["tables"], s["pooling"]), 2)


@unittest.skipIf(torch is None, "torch is not installed: no fake function was called")
class Fakes(unittest.TestCase):
    def setUp(self):
        import weft_fused.operators
        self.operators = weft_fused.operators
        patch = mock.patch.object(weft_fused.peers, "ranks_of", lambda _: 2)
        patch.start()
        self.addCleanup(patch.stop)

    def meta(self, *shape, dtype):
        return torch.empty(shape, dtype=dtype, device="meta")

    def cases(self):
        bf16, half = torch.bfloat16, torch.float16
        a, b = self.meta(512, 64, dtype=bf16), self.meta(128, 64, dtype=bf16)
        tables = self.meta(3, 100, 64, dtype=torch.float32)
        indices = self.meta(8, 3, 5, dtype=torch.int32)
        w, x = self.meta(64, 24, dtype=half), self.meta(24, dtype=half)
        o = self.operators
        yield "embedding_all_to_all", o.embedding_fake, (tables, indices), (2, 4, 3, 64)
        yield "gemv_all_reduce", o.gemv_fake, (w, x), (64,)
        yield "gemm_all_to_all", o.gemm_all_to_all_fake, (a, b), (2, 256, 128)
        yield "gemm_reduce_scatter", o.gemm_reduce_scatter_fake, (a, b), (256, 128)
        yield "all_gather_gemm", o.all_gather_gemm_fake, (a, b), (1024, 128)

    def test_fake_functions(self):
        for name, fake, held, expected in self.cases():
            with self.subTest(name):
                got = fake(*held, "group")
                self.assertEqual(tuple(got.shape), expected)
                self.assertEqual(got.dtype,
                                 torch.float32 if name == "gemv_all_reduce" else held[0].dtype)
                self.assertEqual(got.device.type, "meta")

    def test_through_torch_ops(self):
        if not self.operators.can_register():
            self.skipTest(f"PyTorch {torch.__version__} has no torch.library.custom_op: "
                          "nothing is registered, and torch.compile was not tried")
        for name, _, held, expected in self.cases():
            got = getattr(torch.ops.weft_fused, name)(*held, "group")
            self.assertEqual(tuple(got.shape), expected, name)

    def test_wrong_types_are_refused(self):
        a = self.meta(512, 64, dtype=torch.float32)
        with self.assertRaisesRegex(ValueError, "the kernel takes"):
            self.operators.gemm_all_to_all_fake(a, a, "group")

    def test_gradients_fit_their_operands(self):
        o = self.operators
        gradient = self.meta(2, 4, 3, 64, dtype=torch.float32)
        indices = self.meta(8, 3, 5, dtype=torch.int32)
        self.assertEqual(tuple(o.embedding_gradient_fake(gradient, indices, 100, "").shape),
                         (3, 100, 64))
        rows = self.meta(4, 6, dtype=torch.float32)
        self.assertEqual(tuple(o.gather_rows_fake(rows, "").shape), (8, 6))
        self.assertEqual(tuple(o.scatter_sums_fake(rows, "").shape), (2, 6))

    def test_indices_of_all_tables_as_one(self):
        indices = torch.tensor([[[0, 1], [2, 0]]], dtype=torch.int32)  # 1 sample, 2 tables
        flat = self.operators.bulk.flat_indices(indices, 10)
        self.assertEqual(flat.tolist(), [[0, 1], [12, 10]])


if __name__ == "__main__":
    print("not tested here: the kernels and the exchange between ranks (check.py, on GPUs)"
          + ("" if torch else "; torch is missing: fake functions"))
    unittest.main()
