// The GEMM kernels that a GPU's library has, and which it chooses (docs/model.md, "Whole models").
//
// It chooses, of all tiles and splits of k, those with which the GEMM alone is fastest
// (gemm_seconds). On a GPU whose kernels were measured (GpuSpec::library_gemm):
//
//   tile   = start + bytes of the result / load + max(operations / rate of a CU, operands / load)
//   if it accumulates: + bytes of its fp32 numbers / load + those beyond a result's bytes / store
//   kernel = rounds of tiles over the CUs, bent with the memory's time; split k: + sum
//
// On others a stage of the operand pipeline holds 64 elements of k; a WG has as many stages, at
// most four, as the CU's LDS holds for all WGs that its registers allow.
#pragma once

#include <cstdint>

#include "sim/gpu_model/gemm_law.h"

namespace weft {

// `batch` products C = A B, C of m x n.
struct GemmSize {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  std::int64_t element_bytes = 2;
  bool accumulates = false;  // into existing fp32 numbers
};

// `peers` > 1: rows of tiles divide evenly among that many peers, and k is not split. m of the
// result is 0 where no tile fits.
TiledGemm library_gemm(const GemmSize& size, const GpuSpec& gpu, std::int64_t peers);

}  // namespace weft
