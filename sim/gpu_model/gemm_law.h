// GEMM as work-groups: C = A B, a tile of C a WG, or split_k WGs (docs/model.md, "GEMM").
//
// Operands come from HBM through L2. WGs that run together share rows of A and columns of B: what
// they read from HBM is the panels they touch, once for each L2 that such WGs are dealt to, or once
// where a memory-side cache stands behind the L2s; a GPU with `caches` asks the cache model.
//
//   operations = 2 x tile_m x tile_n x k / split_k                of a WG
//   arithmetic = operations / (peak / CUs x efficiency)           on a CU full of WGs
//   loads      = the longer of the arithmetic with all residents at work and
//                L2 latency x ceil(bytes loaded / bytes in flight)
//   of a library's kernel: bytes loaded / load, and a fixed time for each tile
//   HBM bytes  = k x size x (lines read for the first w tiles) x tiles / w
#pragma once

#include <cstdint>

#include "sim/gpu_model/gpu_spec.h"

namespace weft {

struct TiledGemm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t element_bytes = 2;
  int tile_m = 0;  // of C, made by one WG ...
  int tile_n = 0;
  int split_k = 1;         // ... or by so many, each for its part of k
  std::int64_t group = 1;  // rows of tiles of a peer whose tiles come column by column
  double efficiency = 0;   // of the matrix peak, on a CU full of WGs
  double alone = 1;        // part of it that one WG reaches that has its CU to itself
  WgShape wg;
  // Of a library's kernel:
  Bandwidth load = {};       // between the L2 and one CU; 0: as its loads in flight allow
  Duration fixed = {};       // of a tile, besides its loop over k
  double operand_cost = 1;   // time of an operand's byte in the HBM, in those of a stream
  bool accumulates = false;  // its result is added to fp32 numbers that are there
};

struct GemmRun {
  std::int64_t cus;
  std::int64_t wgs_on_cu;  // that fit
  std::int64_t peers;      // whose rows of tiles come one after another
  Bandwidth beside = {};   // what a collective beside it passes through the L2s
  [[nodiscard]] std::int64_t wgs_at_once() const { return cus * wgs_on_cu; }
};

constexpr std::int64_t kPartialBytes = 4;  // a partial sum is float32, whatever the operands are

// The tiles of C: one peer's rows after another's, in groups, the last one smaller.
struct Tiles {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t rows_of_a_peer;
  std::int64_t together;  // rows of a group
  Tiles(const TiledGemm& gemm, std::int64_t peers);
  [[nodiscard]] std::int64_t count() const { return rows * columns; }

  // Where the tile is that comes `index`-th.
  struct Place {
    std::int64_t row;
    std::int64_t column;
  };
  [[nodiscard]] Place place_of(std::int64_t index) const;
};

// HBM bytes that all WGs of the GEMM read.
std::int64_t operand_traffic(const TiledGemm& gemm, const GpuSpec& gpu, const GemmRun& run);

// All that a WG does but leaving its result somewhere.
struct TileWork {
  Bytes read;
  Bytes more;  // that what is read weighs in the HBM's time
  Flops flops;
  std::uint32_t arithmetic_share = 0;  // of a CU, in thousandths
  Duration arithmetic_alone;
  Duration memory_alone;
};
TileWork tile_work(const TiledGemm& gemm, const GpuSpec& gpu, const GemmRun& run);

// What a WG adds to the traffic that leaves its tile in its GPU's memory. Of a tile in parts, each
// is added into it by atomics: read and written, in float32 whatever the operands are; so is one
// that accumulates.
Bytes tile_result(const TiledGemm& gemm);

// `batch` such products by themselves, in seconds: rounds of tiles, each as long as a CU's
// residents or the memory make it. Those of a library's kernel read their operands once.
double gemm_seconds(const TiledGemm& gemm, const GpuSpec& gpu, std::int64_t batch);

// The rate at which a kernel runs that reaches this part of the matrix units' peak; and so many
// operations at it, far more than the first and the last tiles have, in seconds.
FlopRate matrix_rate(const GpuSpec& gpu, double efficiency);
double large_gemm_seconds(const GpuSpec& gpu, double operations, double efficiency);

}  // namespace weft
