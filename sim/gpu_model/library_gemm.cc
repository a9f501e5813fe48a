#include "sim/gpu_model/library_gemm.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "sim/gpu_model/cu_law.h"

namespace weft {
namespace {

struct Tile {
  int m;
  int n;
  int registers;   // of each of 256 threads: accumulators and what addresses them
  double reaches;  // fraction of the largest tile's rate
};
// For GPUs whose kernels were not measured. The smaller a tile, the more of its time its WG spends
// loading operands into registers: assumed fractions, as CUTLASS's profiler shows them for warp
// tiles of these sizes.
constexpr Tile kTiles[] = {{256, 128, 232, 1},  {128, 128, 128, 0.97}, {128, 64, 96, 0.85},
                           {64, 128, 96, 0.85}, {64, 64, 64, 0.7},     {32, 64, 64, 0.5},
                           {16, 64, 64, 0.3}};
constexpr double kEfficiency = 0.7;  // of the matrix peak, as in workload.gemm
constexpr int kThreads = 256;
constexpr int kStageK = 64;                // elements of k in a stage of the operand pipeline
constexpr std::int64_t kStageBytes = 128;  // of k, in that of a kernel of several sizes (CUTLASS)
constexpr int kMostStages = 4;
constexpr std::int64_t kLine = 128;     // of an L2, bytes
constexpr std::int64_t kBulkCopy = 16;  // [P] alignment that TMA and 16 B cp.async need
constexpr int kSwizzle = 8;             // rows of tiles walked together, column by column
constexpr int kMostParts = 16;
constexpr int kLeastK = 256;  // of a part

// As many stages as the CU's LDS holds for all WGs that its registers allow.
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
          .result_bytes = size.result_bytes,
          .tile_m = tile.m,
          .tile_n = tile.n,
          .split_k = split_k,
          .group = kSwizzle,
          .efficiency = kEfficiency * tile.reaches,
          .alone = 1,
          .wg = wg_of(tile, size.element_bytes, gpu),
          .library = {.b_size = size.b_size, .accumulates = size.accumulates}};
}

bool is_grouped(GemmKernels kernels) {
  return kernels == GemmKernels::grouped || kernels == GemmKernels::grouped_small;
}

// The largest power of two, up to a line of the L2, that divides a row's length.
std::int64_t alignment(std::int64_t row_bytes) { return std::gcd(row_bytes, kLine); }

// Lines that a segment as long as one touches on average.
double lines_touched(std::int64_t alignment) { return 2 - static_cast<double>(alignment) / kLine; }

// The time for a tile to leave its WG, and for what it is added to to come in.
Duration result_time(const TiledGemm& gemm, const LibraryGemmSpec& library) {
  const std::int64_t elements = std::int64_t{gemm.tile_m} * gemm.tile_n;
  if (gemm.split_k > 1) return transfer_time(bytes(elements * kPartialBytes), library.load);
  const double lines = lines_touched(alignment(gemm.n * gemm.result_bytes));
  const auto leaves = static_cast<double>(elements * gemm.result_bytes) * lines;
  const Duration plain = transfer_time(bytes(std::llround(leaves)), library.load);
  if (!gemm.library.accumulates) return plain;
  return plain + transfer_time(bytes(elements * kPartialBytes), library.load) +
         transfer_time(bytes(elements * (kPartialBytes - gemm.result_bytes)), library.store);
}

struct Alignments {
  std::int64_t a;
  std::int64_t b;
};
// A vector is a single row of k elements in any layout.
Alignments alignments_of(const GemmSize& size) {
  const std::int64_t along_a = size.layout == GemmLayout::tn && size.m > 1 ? size.m : size.k;
  const std::int64_t along_b = size.layout != GemmLayout::linear && size.n > 1 ? size.n : size.k;
  return {alignment(along_a * size.element_bytes), alignment(along_b * size.element_bytes)};
}

bool copied_in_bulk(const Alignments& rows) { return std::min(rows.a, rows.b) >= kBulkCopy; }

double load_cost(std::int64_t alignment) {
  if (alignment < kBulkCopy) return static_cast<double>(kBulkCopy) / static_cast<double>(alignment);
  return lines_touched(alignment);
}

void add_alignment(TiledGemm& gemm, const Alignments& rows, const LibraryGemmSpec& library) {
  gemm.library.a_cost = load_cost(rows.a);
  gemm.library.b_cost = load_cost(rows.b);
  if (copied_in_bulk(rows)) {
    gemm.library.cluster = library.cluster;
    return;
  }
  gemm.library.a_cost = gemm.library.b_cost = load_cost(std::min(rows.a, rows.b));
  gemm.library.fixed = gemm.library.fixed + library.unaligned;
}

// The same on a GPU whose kernels were measured; the WG has its CU to itself. Its fixed time
// includes its result, which leaves the way operands come, and its part of a second kernel.
TiledGemm with_measured_tile(const GemmSize& size, const Tile& tile, const GpuSpec& gpu,
                             int split_k) {
  const LibraryGemmSpec& library = *gpu.library_gemm;
  TiledGemm gemm = with_tile(size, tile, gpu, split_k);
  gemm.wg.registers_per_thread = gpu.cu.registers / kThreads * 7 / 8;  // fusing adds some
  gemm.wg.lds = gpu.cu.lds;
  gemm.efficiency = library.efficiency / (1 + size.fp32_sums);
  gemm.library.load = library.load;
  gemm.library.fixed = library.start + result_time(gemm, library);
  if (split_k > 1) gemm.library.fixed = gemm.library.fixed + library.sum;
  if (is_grouped(size.kernels)) {
    gemm.library.stage = kStageBytes;
  }
  gemm.library.operand_cost = library.operand_cost;
  add_alignment(gemm, alignments_of(size), library);
  return gemm;
}

// Tiles whose sides are multiples of 16, as far as a WG's accumulators allow.
std::vector<Tile> tiles_by_16() {
  constexpr int kStep = 16;
  constexpr int kAccumulators = 40 * 1024;
  std::vector<Tile> tiles;
  for (const int side : {64, 128, 192, 256}) {
    for (int other = kStep; other <= 256 && side * other <= kAccumulators; other += kStep) {
      tiles.push_back({side, other, 0, 1});
      if (other % 64 != 0) tiles.push_back({other, side, 0, 1});
    }
  }
  return tiles;
}

// Tiles with sides of powers of two from 16: few rows need small ones.
std::vector<Tile> tiles_of_powers() {
  std::vector<Tile> tiles;
  for (const int m : {256, 128, 64, 32, 16}) {
    for (const int n : {256, 128, 64, 32, 16}) {
      if (m * n <= 256 * 128) tiles.push_back({m, n, 0, 1});
    }
  }
  return tiles;
}

std::span<const Tile> measured_tiles(LibraryTiles which) {
  static const std::vector<Tile> by_16 = tiles_by_16();
  static const std::vector<Tile> powers = tiles_of_powers();
  return which == LibraryTiles::by_16 ? by_16 : powers;
}

// Kernels that have one tile.
constexpr Tile kScaledTile{128, 128, 128, 0.97};
constexpr Tile kGroupedTile{128, 256, 232, 1};
constexpr Tile kSmallGroupedTile{64, 128, 96, 0.85};
constexpr int kGroupedPair = 2;  // WGs of a cluster share their columns of B

bool is_scaled(GemmKernels kernels) {
  return kernels == GemmKernels::scaled || kernels == GemmKernels::scaled_blocks;
}

std::span<const Tile> tiles_for(const GemmSize& size, const GpuSpec& gpu) {
  if (is_scaled(size.kernels)) return {&kScaledTile, 1};
  if (size.kernels == GemmKernels::grouped) return {&kGroupedTile, 1};
  if (size.kernels == GemmKernels::grouped_small) return {&kSmallGroupedTile, 1};
  if (gpu.library_gemm) {
    const bool bulk = copied_in_bulk(alignments_of(size));
    return measured_tiles(bulk ? gpu.library_gemm->tiles : LibraryTiles::few);
  }
  return kTiles;
}

// [M] Grids of 84 shapes of 16 to 256 rows on an H100 (h100-pytorch-few_rows.jsonl), PyTorch 2.11.
int parts_with_block_scales(const GemmSize& size) {
  constexpr std::int64_t kLeastPart = 2'560;
  constexpr std::int64_t kSums = 1 << 20;
  const std::int64_t sums = size.m * size.n * kPartialBytes;
  const std::int64_t parts = std::min(size.k / kLeastPart, (kSums - 1) / sums);
  return static_cast<int>(std::clamp<std::int64_t>(parts, 1, kMostParts));
}

std::vector<int> splits_for(const GemmSize& size, std::int64_t peers) {
  if (peers > 1 || size.whole_k) return {1};
  if (size.kernels == GemmKernels::scaled_blocks) return {parts_with_block_scales(size)};
  std::vector<int> splits{1};
  if (size.kernels != GemmKernels::any) return splits;
  for (int split = 2; split <= kMostParts && size.k >= std::int64_t{kLeastK} * split; split *= 2) {
    splits.push_back(split);
  }
  return splits;
}

}  // namespace

std::vector<GemmTile> library_tiles(const GemmSize& size, const GpuSpec& gpu) {
  std::vector<GemmTile> tiles;
  for (const Tile& tile : tiles_for(size, gpu)) {
    const GemmTile one{.m = tile.m, .n = tile.n};
    if (std::find(tiles.begin(), tiles.end(), one) == tiles.end()) tiles.push_back(one);
  }
  return tiles;
}

TiledGemm library_gemm(const GemmSize& size, const GpuSpec& gpu, std::int64_t peers) {
  const bool measured = gpu.library_gemm.has_value();
  const std::vector<int> splits = splits_for(size, peers);
  TiledGemm best;
  double least = 0;
  for (const Tile& tile : tiles_for(size, gpu)) {
    const bool asked = size.tile == GemmTile{} || size.tile == GemmTile{.m = tile.m, .n = tile.n};
    if (!asked) continue;
    const bool divides = size.m % (tile.m * peers) == 0 && size.n % tile.n == 0;
    if (peers > 1 && !divides) continue;
    for (const int split : splits) {
      TiledGemm gemm =
          measured ? with_measured_tile(size, tile, gpu, split) : with_tile(size, tile, gpu, split);
      if (is_grouped(size.kernels)) gemm.library.pair = kGroupedPair;
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
