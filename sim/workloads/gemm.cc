#include "sim/workloads/gemm.h"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

constexpr std::int64_t kLoadBytes = 16;    // one load of one thread
constexpr std::int64_t kPartialBytes = 4;  // a partial sum is float32, whatever the operands are

std::int64_t round_up(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

struct Tiles {
  std::int64_t rows;
  std::int64_t columns;
  explicit Tiles(const GemmWork& gemm)
      : rows(round_up(gemm.m, gemm.tile_m)), columns(round_up(gemm.n, gemm.tile_n)) {}
  [[nodiscard]] std::int64_t count() const { return rows * columns; }
};

struct Panels {  // rows and columns of tiles
  std::int64_t rows;
  std::int64_t columns;
};

// Panels that `together` tiles in a row touch, in this order of tiles.
Panels touched(const GemmWork& gemm, const Tiles& tiles, std::int64_t together) {
  switch (gemm.order) {
    case TileOrder::row:
      return {std::min(tiles.rows, round_up(together, tiles.columns)),
              std::min(tiles.columns, together)};
    case TileOrder::column:
      return {std::min(tiles.rows, together),
              std::min(tiles.columns, round_up(together, tiles.rows))};
    case TileOrder::swizzled: {  // column by column within groups of `swizzle` rows
      const std::int64_t group = std::min<std::int64_t>(gemm.swizzle, tiles.rows);
      const std::int64_t columns = round_up(together, group);
      if (columns <= tiles.columns) return {std::min(group, together), columns};
      return {std::min(tiles.rows, group * round_up(columns, tiles.columns)), tiles.columns};
    }
  }
  return {};
}

// The matrix units' rate as this kernel reaches it.
FlopRate reached(const GemmWork& gemm, const GpuSpec& gpu) {
  return FlopRate::from_count(
      std::llround(static_cast<double>(gpu.bf16_matrix.count()) * gemm.efficiency));
}

enum class Stores : std::uint8_t { here, at_peer };

// Of a kernel that has `cus` of the CUs.
Work tile_work(const GemmWork& gemm, const GpuSpec& gpu, int cus, int on_cu, Stores stores) {
  const Tiles tiles(gemm);
  const std::int64_t size = size_of(gemm.dtype).count();
  const std::int64_t wgs = tiles.count() * gemm.split_k;
  const std::int64_t together = std::min<std::int64_t>(wgs, std::int64_t{on_cu} * cus);
  const std::int64_t k = round_up(gemm.k, gemm.split_k);
  const std::int64_t elements = std::int64_t{gemm.tile_m} * gemm.tile_n;

  Work work;
  work.traffic = bytes(operand_traffic(gemm, gpu, together) / wgs);
  if (gemm.split_k > 1) {  // added into C by atomics: read and written
    work.traffic += bytes(elements * kPartialBytes * 2);
  } else if (stores == Stores::here) {
    work.traffic += bytes(elements * size);
  }
  work.flops = flops(2 * elements * k);
  work.arithmetic_share =
      static_cast<std::uint32_t>(share_of_cu(gpu, gemm.wg.threads) * gemm.alone);
  work.arithmetic_alone =
      arithmetic_time(work.flops, reached(gemm, gpu), gpu, work.arithmetic_share);

  // Loads run ahead of the arithmetic by what is in flight, so they last as long as it does: with
  // all residents at work, their shares of the CU.
  const std::int64_t loaded = (std::int64_t{gemm.tile_m} + gemm.tile_n) * k * size;
  const std::int64_t in_flight =
      std::int64_t{gemm.wg.threads} * gemm.wg.loads_in_flight * kLoadBytes;
  const Duration loading = gpu.l2.latency * round_up(loaded, in_flight);
  const std::int64_t residents = std::min<std::int64_t>(on_cu, round_up(wgs, gpu.cus));
  const std::int64_t crowd = std::max<std::int64_t>(1000, residents * work.arithmetic_share);
  const Duration computing = picoseconds(work.arithmetic_alone.count() * crowd / 1000);
  work.memory_alone = longer(loading, computing);
  return work;
}

}  // namespace

std::int64_t operand_traffic(const GemmWork& gemm, const GpuSpec& gpu, std::int64_t together) {
  const Tiles tiles(gemm);
  const std::int64_t size = size_of(gemm.dtype).count();
  // Each L2 sees every `dies`-th tile of those that run together; a memory-side cache sees all.
  const std::int64_t caches = gpu.memory.side_cache.count() > 0 ? 1 : gpu.l2.dies;
  const Panels all = touched(gemm, tiles, std::min(together, tiles.count()));
  const std::int64_t of_one = round_up(std::min(together, tiles.count()), caches);
  const std::int64_t rows = std::min(all.rows, of_one);
  const std::int64_t columns = std::min(all.columns, round_up(of_one, rows));
  const std::int64_t wave = caches == 1 ? all.rows * gemm.tile_m + all.columns * gemm.tile_n
                                        : caches * (rows * gemm.tile_m + columns * gemm.tile_n);
  // As many waves as there are tiles for, and never less than reading both operands once.
  const double waves =
      static_cast<double>(tiles.count()) / static_cast<double>(std::min(together, tiles.count()));
  const auto read = static_cast<std::int64_t>(
      std::llround(static_cast<double>(wave) * waves * static_cast<double>(gemm.k * size)));
  return std::max(read, (gemm.m + gemm.n) * gemm.k * size);
}

Grid gemm_grid(const Scenario& scenario, const Cluster& cluster, int extra_registers) {
  const GemmWork& gemm = scenario.workload.gemm;
  const GpuSpec& gpu = cluster.spec.gpu;
  const Tiles tiles(gemm);
  const int on_cu = resident(gpu, gemm.wg, extra_registers);
  const std::int64_t size = size_of(gemm.dtype).count();
  Grid grid;
  grid.name = "gemm";
  grid.gpus = cluster.gpus();
  grid.unit = static_cast<std::uint32_t>(tiles.columns * gemm.split_k);
  grid.per_peer = static_cast<std::uint32_t>(tiles.rows / grid.gpus) * grid.unit;
  grid.in_a_row = grid.per_peer;
  grid.parts = static_cast<std::uint32_t>(gemm.split_k);
  grid.result_bytes = std::int64_t{gemm.tile_m} * gemm.tile_n * size;
  grid.input_bytes = gemm.tile_m * gemm.k * size;
  grid.wg = gemm.wg;
  grid.written = tile_work(gemm, gpu, gpu.cus, on_cu, Stores::here);
  grid.stored = tile_work(gemm, gpu, gpu.cus, on_cu, Stores::at_peer);
  grid.persistent = gemm.schedule == GemmSchedule::persistent;
  grid.jitter = gemm.jitter;
  grid.stream = "gemm/jitter";
  return grid;
}

Kernel gemm_kernel(TaskGraph& graph, const GemmWork& gemm, const GpuSpec& gpu, CuRange cus) {
  const int on_cu = resident(gpu, gemm.wg, 0);
  const std::uint32_t work =
      graph.add_work(tile_work(gemm, gpu, cus_in(cus, gpu.cus), on_cu, Stores::here));
  const Tiles tiles(gemm);
  Kernel kernel{.role = KernelRole::compute};
  kernel.wg = footprint(gemm.wg.threads, gemm.wg.registers_per_thread, gemm.wg.lds, gpu.wave_size);
  kernel.persistent = gemm.schedule == GemmSchedule::persistent;
  kernel.work_list = WorkList::static_list;
  kernel.max_grid = static_cast<std::uint32_t>(on_cu * gpu.cus);
  kernel.cus = cus;
  kernel.first_item = static_cast<std::uint32_t>(graph.items.size());
  kernel.items = static_cast<std::uint32_t>(tiles.count() * gemm.split_k);
  graph.items.insert(graph.items.end(), kernel.items,
                     {.counts_down = LatchId::none(),
                      .waits_for = LatchId::none(),
                      .work = work & 0xFFU,
                      .scale = Item::kUnit});
  return kernel;
}

}  // namespace weft
