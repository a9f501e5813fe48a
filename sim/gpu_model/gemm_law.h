// GEMM as work-groups: C = A B, one WG, or split_k WGs, per tile of C (docs/model.md, "GEMM").
//
// Operands come from HBM through L2. WGs that run together share rows of A and columns of B: what
// they read from HBM is the panels they touch, once for each L2 that such WGs are dealt to, or once
// where there is a memory-side cache behind the L2s; a GPU with `caches` uses the cache model.
//
//   operations = 2 x tile_m x tile_n x k / split_k                of a WG
//   arithmetic = operations / (peak / CUs x efficiency)           on a CU full of WGs
//   loads      = the longer of the arithmetic with all residents at work and
//                L2 latency x ceil(bytes loaded / bytes in flight)
//   loads      = bytes loaded / load, or those that the L2 reads for it / load if more, and a fixed
//                time per tile                                    in a library's kernel; if it
//                is for products of several sizes, of whole stages of 128 B of k
//   HBM bytes  = k x size x (lines read for the first w tiles) x tiles / w
#pragma once

#include <cstdint>

#include "sim/gpu_model/gpu_spec.h"

namespace weft {

struct TiledGemm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t element_bytes = 2;  // of A and B
  std::int64_t result_bytes = 2;   // of C
  int tile_m = 0;                  // of C, computed by one WG ...
  int tile_n = 0;
  int split_k = 1;         // ... or by this many, each for its part of k
  std::int64_t group = 1;  // rows of a peer's tiles that are walked together, column by column
  double efficiency = 0;   // of the matrix peak, on a CU full of WGs
  double alone = 1;        // fraction of it that one WG reaches if it has its CU to itself
  WgShape wg;
  LibraryKernel library;
};

struct GemmRun {
  std::int64_t cus;
  std::int64_t wgs_on_cu;  // that fit
  std::int64_t peers;      // whose rows of tiles come one after another
  Bandwidth beside = {};   // what a concurrent collective passes through the L2s
  [[nodiscard]] std::int64_t wgs_at_once() const { return cus * wgs_on_cu; }
};

constexpr std::int64_t kPartialBytes = 4;  // a partial sum is float32, whatever the operands are

// The tiles of C: one peer's rows after another's, in groups, of which the last may be smaller.
struct Tiles {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t rows_of_a_peer;
  std::int64_t together;  // rows of a group
  Tiles(const TiledGemm& gemm, std::int64_t peers);
  [[nodiscard]] std::int64_t count() const { return rows * columns; }

  // The position of the tile that comes `index`-th.
  struct Place {
    std::int64_t row;
    std::int64_t column;
  };
  [[nodiscard]] Place place_of(std::int64_t index) const;
};

// HBM bytes that all WGs of the GEMM read.
std::int64_t operand_traffic(const TiledGemm& gemm, const GpuSpec& gpu, const GemmRun& run);

// All that a WG does except writing its result.
struct TileWork {
  Bytes read;
  Bytes more;  // surcharge on what is read, for its time in the HBM
  Flops flops;
  std::uint32_t arithmetic_share = 0;  // of a CU, in thousandths
  Duration arithmetic_alone;
  Duration memory_alone;
};
TileWork tile_work(const TiledGemm& gemm, const GpuSpec& gpu, const GemmRun& run);

// The memory traffic of a WG that leaves its tile in its GPU's memory. If k is split, atomics add
// each part to the tile: it is read and written, in float32 whatever the operands are; a library's
// kernel only writes its part, and a second one adds them up out of the L2. A tile that accumulates
// is read and written, too.
Bytes tile_result(const TiledGemm& gemm);

// The time of `batch` such products alone on the GPU, in seconds: rounds of tiles, each as long as
// a CU's residents or the memory take. A library's kernel reads its operands once.
double gemm_seconds(const TiledGemm& gemm, const GpuSpec& gpu, std::int64_t batch);

// The rate of a kernel that reaches this fraction of the matrix units' peak, of elements of 1 byte
// that of fp8 (of bf16 on a GPU without), of 4 bytes half that of bf16. And the time of
// `operations` at that of bf16, in seconds, where the first and the last tiles do not matter.
FlopRate matrix_rate(const GpuSpec& gpu, double efficiency, std::int64_t element_bytes = 2);
double large_gemm_seconds(const GpuSpec& gpu, double operations, double efficiency);

}  // namespace weft
