// The GEMM kernels that a GPU's library has, and which it takes (docs/model.md, "Whole models").
//
// Of the tiles and splits of k that there are, those with which the GEMM by itself is done first
// (gemm_seconds). Of a GPU whose kernels were measured (GpuSpec::library_gemm):
//
//   tile   = start + bytes of the result / load + max(operations / rate of a CU, operands / load)
//   of one that accumulates: + its fp32 numbers / load + what of them is more than a result / store
//   kernel = rounds of tiles over the CUs, bent with the memory's time; split k: + sum
//
// Of others a stage of the pipeline of operands holds 64 of k; a WG has as many stages, four
// at most, as the CU's local memory holds for all WGs that fit its registers.
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
  bool accumulates = false;  // into fp32 numbers that are there
};

// `peers` > 1: rows of tiles divide among so many, and no tile is in parts. m of the result is 0
// where no tile fits.
TiledGemm library_gemm(const GemmSize& size, const GpuSpec& gpu, std::int64_t peers);

}  // namespace weft
