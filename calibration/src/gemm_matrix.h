#pragma once

#include <hip/hip_runtime.h>

#if defined(CALIBRATION_WGMMA)
#include <cuda.h>
#endif

#include "check.h"
#include "numbers.h"

// A matrix in bf16, its rows one after another, as kernels that multiply take it. A kernel's
// parameter with one inside is a CALIBRATION_MATRIX_PARAMETER, and MatrixRef how a tile names it.

namespace calibration {

#if defined(CALIBRATION_WGMMA)

constexpr int tile_k = 64;                                     // of a step
constexpr std::size_t row_bytes = tile_k * sizeof(bf16_bits);  // of a step
constexpr int box_rows = 128;

// A matrix and how the copy engine of an SM reads it, in boxes of 128 rows and a step.
struct Matrix {
  const bf16_bits* at;
  CUtensorMap map;
};
// The copy engine reads a map where the kernel's parameters are.
#define CALIBRATION_MATRIX_PARAMETER const __grid_constant__
using MatrixRef = const Matrix*;
__device__ inline MatrixRef ref_of(const Matrix& matrix) { return &matrix; }

inline Matrix matrix_of(const bf16_bits* at, int rows, int k) {
  static void* const entry = [] {  // looked up once
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &address, 12000,
                                           cudaEnableDefault, &found));
    return found == cudaDriverEntryPointSuccess ? address : nullptr;
  }();
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  const cuuint64_t size[] = {static_cast<cuuint64_t>(k), static_cast<cuuint64_t>(rows)};
  const cuuint64_t pitch[] = {static_cast<cuuint64_t>(k) * sizeof(bf16_bits)};
  const cuuint32_t box[] = {tile_k, box_rows};
  const cuuint32_t step[] = {1, 1};
  Matrix matrix{at, {}};
  if (entry == nullptr ||
      encode(&matrix.map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<bf16_bits*>(at), size,
             pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    throw NotPossible("the copy engine cannot read " + std::to_string(rows) + " rows of " +
                      std::to_string(k));
  }
  return matrix;
}

#else

struct Matrix {
  const bf16_bits* at;
};
#define CALIBRATION_MATRIX_PARAMETER const
using MatrixRef = Matrix;
__device__ inline MatrixRef ref_of(const Matrix& matrix) { return matrix; }

inline Matrix matrix_of(const bf16_bits* at, int /*rows*/, int /*k*/) { return {at}; }

#endif

}  // namespace calibration
