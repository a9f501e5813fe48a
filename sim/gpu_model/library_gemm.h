// The GEMM kernels that a GPU's library has, and which it chooses (docs/model.md, "Whole models").
//
// It chooses, of all tiles and splits of k, those with which the GEMM alone is fastest
// (gemm_seconds). On a GPU whose kernels were measured (GpuSpec::library_gemm):
//
//   tile   = start + bytes of the result / load + max(operations / rate of a CU, operands / load)
//   if it accumulates: + bytes of its fp32 numbers / load + those beyond a result's bytes / store
//   kernel = rounds of tiles over the CUs, bent with the memory's time; split k: + sum
//
// Operands of fp8 have twice the rate, and are half as long. Where each row or each block of 128
// has a scale, and where products of several sizes are one kernel, there is one tile and no split.
//
// Of others a stage of the pipeline of operands holds 64 of k; a WG has as many stages, four
// at most, as the CU's local memory holds for all WGs that fit its registers.
#pragma once

#include <cstdint>

#include "sim/gpu_model/gemm_law.h"

namespace weft {

// Which of the library's kernels may take a product.
enum class GemmKernels {
  any,            // the fastest of all
  scaled,         // of fp8, with a scale for each row or block: 128 x 128 (cuBLAS)
  grouped,        // products of several sizes at once (CUTLASS): pairs of 128 x 256 ...
  grouped_small,  // ... or of 64 x 128
};

// `batch` products C = A B, C of m x n.
struct GemmSize {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  std::int64_t element_bytes = 2;  // of A and B
  std::int64_t result_bytes = 2;   // of C
  GemmKernels kernels = GemmKernels::any;
  bool accumulates = false;  // into fp32 numbers that are there
};

// `peers` > 1: rows of tiles divide evenly among that many peers, and k is not split. m of the
// result is 0 where no tile fits.
TiledGemm library_gemm(const GemmSize& size, const GpuSpec& gpu, std::int64_t peers);

}  // namespace weft
