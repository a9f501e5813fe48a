#include "sim/models/op_kernel.h"

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/core/round_up.h"
#include "sim/core/shared_server.h"
#include "sim/models/attention_kernel.h"
#include "sim/workloads/gemm.h"

namespace weft {
namespace {

constexpr std::uint32_t kMostRounds = 15;  // that an item's scale holds: 24 bits of 2^-20

// Tiles dealt to the WGs of a persistent grid in turn: some have one more than the others.
void deal(OpKernel& kernel, std::int64_t tiles, std::int64_t fit) {
  const std::int64_t grid = std::min(tiles, fit);
  std::int64_t each = tiles / grid;
  const std::int64_t with_more = tiles % grid;
  for (; each > kMostRounds - 1; each -= kMostRounds) {
    kernel.runs.push_back(
        {.work = 0, .scale = kMostRounds * Item::kUnit, .count = static_cast<std::uint32_t>(grid)});
  }
  const auto run = [&](std::int64_t rounds, std::int64_t wgs) {
    if (wgs == 0 || rounds == 0) return;
    kernel.runs.push_back({.work = 0,
                           .scale = static_cast<std::uint32_t>(rounds) * Item::kUnit,
                           .count = static_cast<std::uint32_t>(wgs)});
  };
  run(each + 1, with_more);
  run(each, grid - with_more);
}

OpKernel gemm_kernel_of(const GemmShape& shape, const GpuSpec& gpu, std::uint32_t rank) {
  GemmShape own = shape;
  if (!shape.m_by_rank.empty()) own.m = shape.m_by_rank[rank];
  OpKernel kernel;
  if (own.m == 0) return kernel;
  const GemmWork gemm = choose_gemm(own, gpu, 1);
  const std::int64_t fit = resident_on_gpu(gpu, gemm.wg, {});
  const std::int64_t tiles =
      round_up(gemm.m, gemm.tile_m) * round_up(gemm.n, gemm.tile_n) * gemm.split_k * own.batch;
  kernel.wg = gemm.wg;
  kernel.persistent = true;
  kernel.works = {tile_work_written_here(
      gemm, gpu, {.cus = gpu.cus, .wgs_on_cu = resident(gpu, gemm.wg, {}), .peers = 1})};
  deal(kernel, tiles, fit);
  return kernel;
}

// Every WG that fits copies an equal part; small ones start no more WGs than have 16 KiB each.
OpKernel stream_kernel(const StreamShape& shape, const GpuSpec& gpu) {
  constexpr std::int64_t kLeastOfWg = 16 * 1024;
  OpKernel kernel;
  kernel.wg = {.threads = 256, .registers_per_thread = 32, .lds = bytes(0), .loads_in_flight = 4};
  kernel.persistent = true;
  const std::int64_t fit = resident_on_gpu(gpu, kernel.wg, {});
  const std::int64_t all = shape.read.count() + shape.written.count();
  const std::int64_t wgs = std::clamp<std::int64_t>(round_up(all, kLeastOfWg), 1, fit);
  Work work = copy_work(gpu, kernel.wg, round_up(shape.read.count(), wgs), 0);
  add_writes(work, gpu, round_up(shape.written.count(), wgs));
  work.memory_alone = longer(work.memory_alone, memory_time(work, gpu));
  work.flops = flops(round_up(shape.flops.count(), wgs));
  work.arithmetic_share = share_of_cu(gpu, kernel.wg.threads);
  work.arithmetic_alone = arithmetic_time(work.flops, gpu.fp32_vector, gpu, work.arithmetic_share);
  kernel.works = {work};
  kernel.runs = {{.work = 0, .scale = Item::kUnit, .count = static_cast<std::uint32_t>(wgs)}};
  return kernel;
}

// As many WGs as were recorded, or as fit, each there for the whole time.
OpKernel recorded_kernel(const RecordedShape& shape, const GpuSpec& gpu, std::uint32_t rank) {
  OpKernel kernel;
  kernel.wg = recorded_wg(shape, gpu);
  kernel.persistent = true;
  const std::int64_t fit = resident_on_gpu(gpu, kernel.wg, {});
  Work work;
  work.fixed = shape.time_by_rank.empty() ? shape.time : shape.time_by_rank[rank];
  kernel.works = {work};
  kernel.runs = {{.work = 0,
                  .scale = Item::kUnit,
                  .count = static_cast<std::uint32_t>(std::min(shape.wgs, fit))}};
  return kernel;
}

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

// As many stages as the CU's local memory holds for all WGs that fit its registers.
WgShape wg_of(const Tile& tile, const GemmShape& shape, const GpuSpec& gpu) {
  WgShape wg{.threads = kThreads,
             .registers_per_thread = tile.registers,
             .lds = bytes(0),
             .loads_in_flight = 1};
  const std::int64_t stage = std::int64_t{tile.m + tile.n} * kStageK * size_of(shape.dtype).count();
  const std::int64_t for_each = gpu.cu.lds.count() / std::max(1, resident(gpu, wg, {}));
  const std::int64_t stages = std::clamp<std::int64_t>(for_each / stage, 1, kMostStages);
  wg.lds = bytes(stage * stages);
  wg.loads_in_flight = static_cast<int>(stage * stages / (kThreads * kLoadBytes));
  return wg;
}

GemmWork with_tile(const GemmShape& shape, const Tile& tile, const GpuSpec& gpu, int split_k) {
  GemmWork gemm;
  gemm.m = shape.m;
  gemm.n = shape.n;
  gemm.k = shape.k;
  gemm.dtype = shape.dtype;
  gemm.tile_m = tile.m;
  gemm.tile_n = tile.n;
  gemm.split_k = split_k;
  gemm.swizzle = 8;
  gemm.efficiency = kEfficiency * tile.reaches;
  gemm.alone = 1;
  gemm.schedule = GemmSchedule::persistent;
  gemm.wg = wg_of(tile, shape, gpu);
  return gemm;
}

// By itself: rounds of tiles, each as long as a CU's residents or the memory make it.
double time_of(const GemmWork& gemm, const GemmShape& shape, const GpuSpec& gpu) {
  const std::int64_t on_cu = resident(gpu, gemm.wg, {});
  const Work work =
      tile_work_written_here(gemm, gpu, {.cus = gpu.cus, .wgs_on_cu = on_cu, .peers = 1});
  const std::int64_t tiles =
      round_up(gemm.m, gemm.tile_m) * round_up(gemm.n, gemm.tile_n) * gemm.split_k * shape.batch;
  const std::int64_t rounds = round_up(tiles, on_cu * gpu.cus);
  const std::int64_t sharing = std::max<std::int64_t>(1, std::min(on_cu, round_up(tiles, gpu.cus)));
  const double crowd = std::max(1.0, static_cast<double>(sharing * work.arithmetic_share) / 1000);
  const double arithmetic = to_seconds(work.arithmetic_alone) * crowd;
  const double alone = std::max(arithmetic, to_seconds(work.memory_alone));
  const double memory = to_seconds(memory_time(work, gpu)) * static_cast<double>(tiles);
  // Bent as the memory's rate is where both take nearly as long.
  return bent(static_cast<double>(rounds) * alone, memory, gpu.memory.bend);
}

}  // namespace

GemmWork choose_gemm(const GemmShape& shape, const GpuSpec& gpu, std::int64_t peers) {
  GemmWork best;
  double least = 0;
  for (const Tile& tile : kTiles) {
    const bool divides = shape.m % (tile.m * peers) == 0 && shape.n % tile.n == 0;
    if (peers > 1 && !divides) continue;
    for (int split = 1; split <= 16; split *= 2) {
      if (split > 1 && (peers > 1 || shape.k < 256 * split)) break;
      const GemmWork gemm = with_tile(shape, tile, gpu, split);
      if (resident(gpu, gemm.wg, {}) == 0) break;
      const double time = time_of(gemm, shape, gpu);
      if (least > 0 && time >= least) continue;
      least = time;
      best = gemm;
    }
  }
  return best;
}

// Recorded on another GPU, a WG may ask for more than a CU here has: then it has one to itself.
WgShape recorded_wg(const RecordedShape& shape, const GpuSpec& gpu) {
  const WgShape wg{.threads = shape.threads,
                   .registers_per_thread = shape.registers_per_thread,
                   .lds = shape.lds,
                   .loads_in_flight = 1};
  if (resident(gpu, wg, {}) > 0) return wg;
  return {
      .threads = gpu.wave_size, .registers_per_thread = 1, .lds = gpu.cu.lds, .loads_in_flight = 1};
}

OpKernel op_kernel(const OpShape& shape, const GpuSpec& gpu, std::uint32_t rank) {
  if (const auto* gemm = std::get_if<GemmShape>(&shape)) return gemm_kernel_of(*gemm, gpu, rank);
  if (const auto* attention = std::get_if<AttentionShape>(&shape)) {
    return attention_kernel(*attention, gpu);
  }
  if (const auto* stream = std::get_if<StreamShape>(&shape)) return stream_kernel(*stream, gpu);
  const auto* recorded = std::get_if<RecordedShape>(&shape);
  SIM_ASSERT(recorded != nullptr);
  return recorded_kernel(*recorded, gpu, rank);
}

}  // namespace weft
