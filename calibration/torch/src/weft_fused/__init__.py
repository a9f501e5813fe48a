"""weft's fused operators for PyTorch (README.md)."""
import os

import torch

from . import bulk, shapes
from .operators import (all_gather_gemm, embedding_all_to_all, embedding_all_to_all_out,
                        gemm_all_to_all, gemm_all_to_all_out, gemm_reduce_scatter, gemv_all_reduce,
                        gemv_all_reduce_out)
from .peers import empty

_library = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_kernels.so")
built = os.path.exists(_library)  # without it: shapes, fake functions and bulk
if built:
    torch.ops.load_library(_library)

__all__ = ["all_gather_gemm", "built", "bulk", "embedding_all_to_all", "embedding_all_to_all_out",
           "empty", "gemm_all_to_all", "gemm_all_to_all_out", "gemm_reduce_scatter",
           "gemv_all_reduce", "gemv_all_reduce_out", "shapes"]
