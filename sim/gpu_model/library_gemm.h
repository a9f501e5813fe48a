// The GEMM kernels that a GPU's library has, and which it chooses (docs/model.md, "Whole models").
//
// It chooses, of all tiles and splits of k, those with which the GEMM alone is fastest
// (gemm_seconds). On a GPU whose kernels were measured (GpuSpec::library_gemm):
//
//   tile   = start + lines of the result / load + max(operations / rate of a CU, operands / load)
//   if it accumulates: + bytes of its fp32 numbers / load + those beyond a result's bytes / store
//   kernel = rounds of tiles over the CUs, bent with the memory's time; split k: + sum
//
// If an operand's rows are no multiple of 128 B long, each 128 B segment that a WG loads touches
// 2 - a / 128 lines of the L2 on average, where a is the largest power of two that divides the
// rows' length; so do rows of the result. WGs of a cluster lie along the shorter side of their
// tiles, and the L2 reads the rows of the longer one once for all of them: the operands take as
// long as what comes into the CU, or as what the L2 reads for it, if that is more. Below 16 B there
// is no bulk copy, and nothing is shared: older kernels load a bytes at a time, so 16 / a times as
// many loads.
//
// fp8 operands have twice the rate and half the bytes. With a scale for each row or each block of
// 128, and in a kernel for products of several sizes, there is one tile. With one for each block k
// is cut in as many parts of at least 2,560 as have less than 1 MiB of sums; else it is not split.
//
// Packed weights (4 bits and scales, `b_size`) are read as they are and multiplied as the rest: the
// kernel unpacks them beside its products (Marlin; assumed to cost nothing).
//
// On others a stage of the operand pipeline holds 64 elements of k; a WG has as many stages, at
// most four, as the CU's LDS holds for all WGs that its registers allow.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/gpu_model/gemm_law.h"

namespace weft {

// Along which dimension the rows of A and B lie in memory.
enum class GemmLayout {
  linear,  // both along k: y = x w^T, a layer
  nn,      // A along k, B along n: a gradient of inputs
  tn,      // A along m, B along n: a gradient of weights
};

// Which of the library's kernels may take a product.
enum class GemmKernels {
  any,            // the fastest of all
  scaled,         // of fp8, with a scale for each row: 128 x 128 (cuBLAS)
  scaled_blocks,  // the same, for each block; may split k
  grouped,        // products of several sizes in one kernel (CUTLASS): pairs of 128 x 256 ...
  grouped_small,  // ... or of 64 x 128
};

// Rows and columns of C that a WG computes.
struct GemmTile {
  int m = 0;
  int n = 0;
  bool operator==(const GemmTile&) const = default;
};

// `batch` products C = A B, C of m x n.
struct GemmSize {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  std::int64_t element_bytes = 2;  // of A and B
  std::int64_t result_bytes = 2;   // of C
  GemmLayout layout = GemmLayout::linear;
  GemmKernels kernels = GemmKernels::any;
  bool accumulates = false;  // into existing fp32 numbers
  bool whole_k = false;      // k is not split
  double fp32_sums = 0;      // of Fp32SumsSpec: the arithmetic takes 1 + so many times as long
  double b_size = 1;         // of LibraryKernel: packed weights
  GemmTile tile = {};        // this one of the library's; 0: the fastest of all
};

// `peers` > 1: rows of tiles divide evenly among that many peers, and k is not split. m of the
// result is 0 where no tile fits.
TiledGemm library_gemm(const GemmSize& size, const GpuSpec& gpu, std::int64_t peers);

// All that it has for such products, each once.
std::vector<GemmTile> library_tiles(const GemmSize& size, const GpuSpec& gpu);

}  // namespace weft
