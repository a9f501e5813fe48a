#include "sim/workloads/gemm.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "sim/core/assert.h"
#include "sim/core/round_up.h"
#include "sim/workloads/gemm_sample.h"

namespace weft {
namespace {

constexpr std::int64_t kPartialBytes = 4;  // a partial sum is float32, whatever the operands are

bool is_persistent(GemmSchedule schedule) { return schedule != GemmSchedule::tiles; }

WorkList work_list_of(GemmSchedule schedule) {
  return schedule == GemmSchedule::dynamic ? WorkList::dynamic_list : WorkList::static_list;
}

// Rows of tiles whose tiles come column by column.
std::int64_t rows_together(const GemmWork& gemm, std::int64_t rows_of_a_peer) {
  switch (gemm.order) {
    case TileOrder::row:
      return 1;
    case TileOrder::column:
      return rows_of_a_peer;
    case TileOrder::swizzled:
      return std::min<std::int64_t>(gemm.swizzle, rows_of_a_peer);
  }
  SIM_ASSERT(false);
}

struct Tiles {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t rows_of_a_peer;
  std::int64_t together;
  Tiles(const GemmWork& gemm, std::int64_t peers)
      : rows(round_up(gemm.m, gemm.tile_m)),
        columns(round_up(gemm.n, gemm.tile_n)),
        rows_of_a_peer(rows / peers),
        together(rows_together(gemm, rows_of_a_peer)) {}
  [[nodiscard]] std::int64_t count() const { return rows * columns; }

  // Where the tile is that comes `index`-th: one peer's rows after another's, in groups of
  // `together`, the last one smaller.
  struct Place {
    std::int64_t row;
    std::int64_t column;
  };
  [[nodiscard]] Place place_of(std::int64_t index) const {
    const std::int64_t of_peer = index % (rows_of_a_peer * columns);
    const std::int64_t first = of_peer / (together * columns) * together;
    const std::int64_t group = std::min(together, rows_of_a_peer - first);
    const std::int64_t of_group = of_peer - first * columns;
    return {(index - of_peer) / columns + first + of_group % group, of_group / group};
  }
};

// Rows of A and columns of B that the caches read for the first `at_once` tiles, dealt to them in
// turn: a tile's rows and columns once for each cache that has such a tile.
std::int64_t lines_read(const GemmWork& gemm, const Tiles& tiles, std::int64_t at_once,
                        int caches) {
  // No order has its n-th tile beyond row n or column n. 0: not read by this cache or any before.
  std::vector<std::uint16_t> row_read(static_cast<std::size_t>(std::min(tiles.rows, at_once)));
  std::vector<std::uint16_t> column_read(
      static_cast<std::size_t>(std::min(tiles.columns, at_once)));
  std::int64_t lines = 0;
  for (int cache = 1; cache <= caches; ++cache) {
    for (std::int64_t i = cache - 1; i < at_once; i += caches) {
      const Tiles::Place place = tiles.place_of(i);
      std::uint16_t& row = row_read[static_cast<std::size_t>(place.row)];
      std::uint16_t& column = column_read[static_cast<std::size_t>(place.column)];
      if (row != cache) lines += gemm.tile_m;
      if (column != cache) lines += gemm.tile_n;
      row = column = static_cast<std::uint16_t>(cache);
    }
  }
  return lines;
}

// What the formula says: docs/model.md, "GEMM".
std::int64_t traffic_of_waves(const GemmWork& gemm, const GpuSpec& gpu, const GemmRun& run) {
  __extension__ using Wide = __int128;
  const Tiles tiles(gemm, run.peers);
  const std::int64_t size = size_of(gemm.dtype).count();
  // WGs of one tile share its panels, each for its part of k.
  const std::int64_t at_once = std::min(tiles.count(), round_up(run.wgs_at_once(), gemm.split_k));
  // A memory-side cache sees all. Else WGs are dealt to the dies in turn, and where their number
  // shares a factor with split_k, a part of k always comes to the same few of them.
  const int dies = gpu.l2.dies / std::gcd(gpu.l2.dies, gemm.split_k);
  const int caches = gpu.memory.side_cache.count() > 0 ? 1 : dies;
  const std::int64_t lines = lines_read(gemm, tiles, at_once, caches);
  // As many waves as there are tiles for, and never less than reading both operands once.
  const Wide all = static_cast<Wide>(lines) * tiles.count() * gemm.k * size;
  return static_cast<std::int64_t>((all + at_once - 1) / at_once);
}

// The matrix units' rate as this kernel reaches it.
FlopRate reached(const GemmWork& gemm, const GpuSpec& gpu) {
  return FlopRate::from_count(
      std::llround(static_cast<double>(gpu.bf16_matrix.count()) * gemm.efficiency));
}

// The arithmetic of a WG, for its tile or its part of it.
void add_arithmetic(Work& work, const GemmWork& gemm, const GpuSpec& gpu) {
  const std::int64_t k = round_up(gemm.k, gemm.split_k);
  work.flops = flops(2 * std::int64_t{gemm.tile_m} * gemm.tile_n * k);
  work.arithmetic_share =
      static_cast<std::uint32_t>(share_of_cu(gpu, gemm.wg.threads) * gemm.alone);
  work.arithmetic_alone =
      arithmetic_time(work.flops, reached(gemm, gpu), gpu, work.arithmetic_share);
}

std::int64_t bytes_in_flight(const WgShape& wg) {
  return std::int64_t{wg.threads} * wg.loads_in_flight * kLoadBytes;
}

// How long its arithmetic lasts beside all that are with it on a CU.
Duration among_residents(const Work& work, const GemmWork& gemm, const GemmRun& run) {
  const std::int64_t wgs = Tiles(gemm, run.peers).count() * gemm.split_k;
  const std::int64_t residents = std::min(run.wgs_on_cu, round_up(wgs, run.cus));
  const std::int64_t crowd = std::max<std::int64_t>(1000, residents * work.arithmetic_share);
  return picoseconds(work.arithmetic_alone.count() * crowd / 1000);
}

GemmTiles tiles_of(const GemmWork& gemm, const GpuSpec& gpu, const GemmRun& run) {
  const Tiles tiles(gemm, run.peers);
  Work work;
  add_arithmetic(work, gemm, gpu);
  GemmTiles asked;
  asked.rows = tiles.rows;
  asked.columns = tiles.columns;
  asked.together = tiles.together;
  asked.split_k = gemm.split_k;
  asked.row_bytes = gemm.k * size_of(gemm.dtype).count();
  asked.tile_m = gemm.tile_m;
  asked.tile_n = gemm.tile_n;
  asked.element_bytes = size_of(gemm.dtype).count();
  asked.cus = static_cast<int>(run.cus);
  asked.wgs_per_cu = static_cast<int>(run.wgs_on_cu);
  asked.arithmetic = among_residents(work, gemm, run);
  asked.in_flight = bytes_in_flight(gemm.wg);
  asked.beside = run.beside;
  return asked;
}

// All that a WG does but leaving its result somewhere.
Work tile_work(const GemmWork& gemm, const GpuSpec& gpu, const GemmRun& run) {
  const std::int64_t wgs = Tiles(gemm, run.peers).count() * gemm.split_k;
  Work work;
  work.traffic = bytes(round_up(operand_traffic(gemm, gpu, run), wgs));
  add_arithmetic(work, gemm, gpu);

  // Loads run ahead of the arithmetic by what is in flight, so they last as long as it does: with
  // all residents at work, as their shares of the CU's rate make it last.
  const std::int64_t loaded = (std::int64_t{gemm.tile_m} + gemm.tile_n) *
                              round_up(gemm.k, gemm.split_k) * size_of(gemm.dtype).count();
  const Duration loading = gpu.l2.latency * round_up(loaded, bytes_in_flight(gemm.wg));
  work.memory_alone = longer(loading, among_residents(work, gemm, run));
  return work;
}

Grid shape_of(const GemmWork& gemm, std::uint32_t gpus) {
  const Tiles tiles(gemm, gpus);
  const std::int64_t size = size_of(gemm.dtype).count();
  Grid grid;
  grid.name = "gemm";
  grid.gpus = gpus;
  grid.unit = static_cast<std::uint32_t>(tiles.columns * gemm.split_k);
  grid.per_peer = static_cast<std::uint32_t>(tiles.rows / grid.gpus) * grid.unit;
  grid.in_a_row = grid.per_peer;
  grid.units_in_turn = static_cast<std::uint32_t>(tiles.together);
  grid.parts = static_cast<std::uint32_t>(gemm.split_k);
  grid.result_bytes = std::int64_t{gemm.tile_m} * gemm.tile_n * size;
  grid.element_bytes = size;
  grid.input_bytes = gemm.tile_m * gemm.k * size;
  grid.wg = gemm.wg;
  grid.persistent = is_persistent(gemm.schedule);
  grid.work_list = work_list_of(gemm.schedule);
  grid.jitter = gemm.jitter;
  grid.stream = "gemm/jitter";
  return grid;
}

}  // namespace

std::int64_t operand_traffic(const GemmWork& gemm, const GpuSpec& gpu, const GemmRun& run) {
  const std::int64_t read = gpu.caches
                                ? sampled_traffic(tiles_of(gemm, gpu, run), *gpu.caches).count()
                                : traffic_of_waves(gemm, gpu, run);
  return std::max(read, (gemm.m + gemm.n) * gemm.k * size_of(gemm.dtype).count());
}

// The same where the result stays on this GPU. Of a tile in parts, each is added into it by
// atomics: read and written.
Work tile_work_written_here(const GemmWork& gemm, const GpuSpec& gpu, const GemmRun& run) {
  Work work = tile_work(gemm, gpu, run);
  const std::int64_t elements = std::int64_t{gemm.tile_m} * gemm.tile_n;
  work.traffic +=
      bytes(elements * (gemm.split_k > 1 ? 2 * kPartialBytes : size_of(gemm.dtype).count()));
  return work;
}

Grid gemm_shape(const Scenario& scenario, const Cluster& cluster) {
  return shape_of(scenario.workload.gemm, cluster.gpus());
}

Grid gemm_grid(const Scenario& scenario, const Cluster& cluster, const KernelVersion& version) {
  return gemm_grid(scenario.workload.gemm, cluster.spec.gpu, cluster.gpus(), version);
}

Grid gemm_grid(const GemmWork& gemm, const GpuSpec& gpu, std::uint32_t gpus,
               const KernelVersion& version) {
  const GemmRun run{.cus = gpu.cus,
                    .wgs_on_cu = resident(gpu, gemm.wg, version),
                    .peers = gpus,
                    .beside = version.beside};
  Grid grid = shape_of(gemm, gpus);
  grid.written = tile_work_written_here(gemm, gpu, run);
  grid.stored = tile_work(gemm, gpu, run);
  return grid;
}

Kernel gemm_kernel(TaskGraph& graph, const Scenario& scenario, const GpuSpec& gpu,
                   const GemmPlace& place) {
  const GemmWork& gemm = scenario.workload.gemm;
  const GemmRun run{.cus = cus_in(place.cus, gpu.cus),
                    .wgs_on_cu = resident(gpu, gemm.wg, {}),
                    .peers = 1,
                    .beside = place.beside};
  const std::int64_t fit = run.wgs_at_once();
  const bool stream_k = gemm.schedule == GemmSchedule::stream_k;
  const std::int64_t wgs = Tiles(gemm, run.peers).count() * gemm.split_k;
  Kernel kernel{.gpu = place.gpu, .role = KernelRole::compute};
  kernel.wg = footprint(gemm.wg.threads, gemm.wg.registers_per_thread, gemm.wg.lds, gpu.wave_size);
  kernel.persistent = is_persistent(gemm.schedule);
  kernel.work_list = work_list_of(gemm.schedule);
  kernel.max_grid = static_cast<std::uint32_t>(fit);
  kernel.cus = place.cus;
  kernel.first_item = static_cast<std::uint32_t>(graph.items.size());
  kernel.items = static_cast<std::uint32_t>(stream_k ? round_up(wgs, fit) * fit : wgs);
  if (stream_k) kernel.finish = graph.add_latch(kernel.items);
  // Of stream_k the last item of each WG: its part of the tiles that are no whole round.
  const std::int64_t whole = stream_k ? (round_up(wgs, fit) - 1) * fit : wgs;
  const std::int64_t part = stream_k ? round_up((wgs - whole) * Item::kUnit, fit) : 0;

  Grid draws;
  draws.gpus = 1;
  draws.per_peer = kernel.items;
  draws.jitter = gemm.jitter;
  draws.stream = "gemm/jitter";
  const std::uint32_t work = graph.add_work(tile_work_written_here(gemm, gpu, run));
  for (std::uint32_t i = 0; i < kernel.items; ++i) {
    const std::int64_t units = i < whole ? std::int64_t{Item::kUnit} : part;
    const std::int64_t drawn =
        scale_of(draws, scenario.run.seed, place.gpu.value, {.peer = 0, .index = i});
    graph.items.push_back(
        {.counts_down = kernel.finish,
         .waits_for = LatchId::none(),
         .work = work & 0xFFU,
         .scale = static_cast<std::uint32_t>(round_up(units * drawn, Item::kUnit)) & 0xFFFFFFU});
  }
  return kernel;
}

}  // namespace weft
