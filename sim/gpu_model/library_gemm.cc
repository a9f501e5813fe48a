#include "sim/gpu_model/library_gemm.h"

#include <algorithm>

#include "sim/gpu_model/cu_law.h"

namespace weft {
namespace {

struct Tile {
  int m;
  int n;
  int registers;   // of a thread, of 256: accumulators and what addresses them
  double reaches;  // of what the largest reach
};
// The smaller a tile, the more of its time its WG loads operands into registers: fractions as
// CUTLASS's profiler shows them for warp tiles of these sizes, assumed.
constexpr Tile kTiles[] = {{256, 128, 232, 1},  {128, 128, 128, 0.97}, {128, 64, 96, 0.85},
                           {64, 128, 96, 0.85}, {64, 64, 64, 0.7},     {32, 64, 64, 0.5},
                           {16, 64, 64, 0.3}};
constexpr double kEfficiency = 0.7;  // of the matrix peak, as of workload.gemm
constexpr int kThreads = 256;
constexpr int kStageK = 64;  // of k that a stage of the pipeline of operands holds
constexpr int kMostStages = 4;
constexpr int kSwizzle = 8;  // rows of tiles that come column by column
constexpr int kMostParts = 16;
constexpr int kLeastK = 256;  // of a part

// As many stages as the CU's local memory holds for all WGs that fit its registers.
WgShape wg_of(const Tile& tile, std::int64_t element_bytes, const GpuSpec& gpu) {
  WgShape wg{.threads = kThreads,
             .registers_per_thread = tile.registers,
             .lds = bytes(0),
             .loads_in_flight = 1};
  const std::int64_t stage = std::int64_t{tile.m + tile.n} * kStageK * element_bytes;
  const std::int64_t for_each = gpu.cu.lds.count() / std::max(1, resident_on_cu(gpu, wg));
  const std::int64_t stages = std::clamp<std::int64_t>(for_each / stage, 1, kMostStages);
  wg.lds = bytes(stage * stages);
  wg.loads_in_flight = static_cast<int>(stage * stages / (kThreads * kLoadBytes));
  return wg;
}

TiledGemm with_tile(const GemmSize& size, const Tile& tile, const GpuSpec& gpu, int split_k) {
  return {.m = size.m,
          .n = size.n,
          .k = size.k,
          .element_bytes = size.element_bytes,
          .tile_m = tile.m,
          .tile_n = tile.n,
          .split_k = split_k,
          .group = kSwizzle,
          .efficiency = kEfficiency * tile.reaches,
          .alone = 1,
          .wg = wg_of(tile, size.element_bytes, gpu)};
}

}  // namespace

TiledGemm library_gemm(const GemmSize& size, const GpuSpec& gpu, std::int64_t peers) {
  TiledGemm best;
  double least = 0;
  for (const Tile& tile : kTiles) {
    const bool divides = size.m % (tile.m * peers) == 0 && size.n % tile.n == 0;
    if (peers > 1 && !divides) continue;
    for (int split = 1; split <= kMostParts; split *= 2) {
      if (split > 1 && (peers > 1 || size.k < std::int64_t{kLeastK} * split)) break;
      const TiledGemm gemm = with_tile(size, tile, gpu, split);
      if (resident_on_cu(gpu, gemm.wg) == 0) break;
      const double time = gemm_seconds(gemm, gpu, size.batch);
      if (least > 0 && time >= least) continue;
      least = time;
      best = gemm;
    }
  }
  return best;
}

}  // namespace weft
