#include "sim/workloads/gemm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/core/assert.h"
#include "sim/core/round_up.h"

namespace weft {
namespace {

bool is_persistent(GemmSchedule schedule) { return schedule != GemmSchedule::tiles; }

WorkList work_list_of(GemmSchedule schedule) {
  if (schedule == GemmSchedule::counter) return WorkList::first_static;
  return schedule == GemmSchedule::dynamic ? WorkList::dynamic_list : WorkList::static_list;
}

// The number of rows of tiles, of one peer, whose tiles are done column by column.
std::int64_t rows_of_a_group(const GemmWork& gemm) {
  switch (gemm.order) {
    case TileOrder::row:
      return 1;
    case TileOrder::column:
      return std::numeric_limits<std::int64_t>::max();
    case TileOrder::swizzled:
      return gemm.swizzle;
  }
  SIM_ASSERT(false);
}

Work to_work(const TileWork& tile) {
  Work work;
  work.traffic = tile.read;
  work.written_more = tile.more;
  work.flops = tile.flops;
  work.arithmetic_share = tile.arithmetic_share;
  work.arithmetic_alone = tile.arithmetic_alone;
  work.memory_alone = tile.memory_alone;
  return work;
}

std::int64_t operand_bytes(const GemmWork& gemm) {
  return gemm.fp8 ? 1 : size_of(gemm.dtype).count();
}

// A WG's share of B's columns that own tiles read first and the others' last.
Bytes read_again(const TiledGemm& gemm, const Grid& grid, const KernelVersion& version) {
  const auto first = std::min(static_cast<std::uint32_t>(version.own_first), grid.per_peer);
  const double b = static_cast<double>(gemm.n * gemm.k * gemm.element_bytes) * gemm.library.b_size;
  const double wgs = static_cast<double>(grid.per_peer) * grid.gpus;
  return bytes(std::llround(b * first / grid.per_peer / wgs));
}

// Of tiles that find `free` of all slots when they begin, and the others a while later: the WGs of
// either are in step with one another, not with those of the other.
std::int64_t traffic_in_two_steps(const TiledGemm& gemm, const GpuSpec& gpu, const GemmRun& run,
                                  std::int64_t free) {
  const auto traffic = [&](std::int64_t cus) {
    GemmRun part = run;
    part.cus = std::max<std::int64_t>(1, cus);
    return operand_traffic(gemm, gpu, part);
  };
  const bool once = Tiles(gemm, run.peers).count() * gemm.split_k <= free * run.wgs_on_cu;
  const std::int64_t taken = run.cus - free;
  if (once || taken == 0) return traffic(free);
  return (traffic(free) * free + traffic(taken) * taken) / run.cus;
}

// A WG's share of what the own rows' tiles and the others', which begin when their rows have come,
// read more than tiles that are all walked in step: B passes through the caches for each of both,
// and again where the others' WGs begin in two steps, beside the own ones and after them.
Bytes read_apart(const TiledGemm& gemm, const GpuSpec& gpu, const GemmRun& run) {
  TiledGemm own = gemm;
  own.m = gemm.m / run.peers;
  TiledGemm others = gemm;
  others.m = gemm.m - own.m;
  GemmRun of_own = run;
  of_own.peers = 1;
  GemmRun of_others = run;
  of_others.peers = run.peers - 1;
  const std::int64_t own_wgs = Tiles(own, 1).count() * gemm.split_k;
  const std::int64_t free = run.cus - own_wgs / run.wgs_on_cu;
  const std::int64_t apart =
      operand_traffic(own, gpu, of_own) +
      traffic_in_two_steps(others, gpu, of_others, free > 0 ? free : run.cus);
  const std::int64_t more = apart - operand_traffic(gemm, gpu, run);
  return bytes(std::max<std::int64_t>(0, more) / (own_wgs * run.peers));
}

}  // namespace

TiledGemm tiled(const GemmWork& gemm) {
  return {.m = gemm.m,
          .n = gemm.n,
          .k = gemm.k,
          .element_bytes = operand_bytes(gemm),
          .result_bytes = size_of(gemm.dtype).count(),
          .tile_m = gemm.tile_m,
          .tile_n = gemm.tile_n,
          .split_k = gemm.split_k,
          .group = rows_of_a_group(gemm),
          .efficiency = gemm.efficiency,
          .alone = gemm.alone,
          .wg = gemm.wg,
          .library = gemm.library};
}

Work tile_work_written_here(const GemmWork& gemm, const GpuSpec& gpu, const GemmRun& run) {
  const TiledGemm tiles = tiled(gemm);
  Work work = to_work(tile_work(tiles, gpu, run));
  work.traffic += tile_result(tiles);
  return work;
}

Grid gemm_shape(const GemmWork& gemm, std::uint32_t gpus) {
  const Tiles tiles(tiled(gemm), gpus);
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
  grid.input_bytes = gemm.tile_m * gemm.k * operand_bytes(gemm);
  grid.wg = gemm.wg;
  grid.persistent = is_persistent(gemm.schedule);
  grid.work_list = work_list_of(gemm.schedule);
  grid.jitter = gemm.jitter;
  grid.stream = "gemm/jitter";
  return grid;
}

Grid gemm_grid(const GemmWork& gemm, const GpuSpec& gpu, std::uint32_t gpus,
               const KernelVersion& version) {
  TiledGemm kernel = tiled(gemm);
  GemmRun run{.cus = gpu.cus,
              .wgs_on_cu = resident(gpu, gemm.wg, version),
              .peers = gpus,
              .beside = version.beside};
  // A kernel of one peer's rows shares fewer of them, and reads all of B for itself. Where slices
  // of several GPUs alternate and fit on the GPU together, their rows are walked as one group.
  const bool together =
      version.in_turn > 1 && std::int64_t{version.in_turn} * version.slice_wgs <= run.wgs_at_once();
  const std::int64_t rows_of_a_peer = Tiles(kernel, gpus).rows_of_a_peer;
  if (version.of_a_peer) kernel.m /= gpus;
  kernel.m /= std::min<std::int64_t>(version.chunks, rows_of_a_peer);
  if (together) kernel.group = Tiles(kernel, gpus).together * version.in_turn;
  if (version.of_a_peer || together) run.peers = 1;
  Grid grid = gemm_shape(gemm, gpus);
  grid.stored = to_work(tile_work(kernel, gpu, run));
  grid.stored.traffic += read_again(kernel, grid, version);
  if (version.own_apart && gpus > 1) grid.stored.traffic += read_apart(kernel, gpu, run);
  grid.written = grid.stored;
  grid.written.traffic += tile_result(kernel);
  return grid;
}

GemmWork library_work(const GemmSize& size, DataType result, const GpuSpec& gpu,
                      std::int64_t peers) {
  const TiledGemm chosen = library_gemm(size, gpu, peers);
  GemmWork gemm;
  gemm.by_library = true;
  gemm.m = chosen.m;
  gemm.n = chosen.n;
  gemm.k = chosen.k;
  gemm.dtype = result;
  gemm.tile_m = chosen.tile_m;
  gemm.tile_n = chosen.tile_n;
  gemm.split_k = chosen.split_k;
  gemm.swizzle = static_cast<int>(chosen.group);
  gemm.efficiency = chosen.efficiency;
  gemm.alone = chosen.alone;
  gemm.schedule = GemmSchedule::persistent;
  gemm.wg = chosen.wg;
  gemm.library = chosen.library;
  gemm.fp8 = size.element_bytes < size_of(result).count();
  return gemm;
}

GemmSchedule library_schedule(const GpuSpec& gpu) {
  const bool stay = gpu.library_gemm && gpu.library_gemm->tiles == LibraryTiles::by_16;
  return stay ? GemmSchedule::counter : GemmSchedule::dynamic;
}

Kernel gemm_kernel(TaskGraph& graph, const GemmWork& gemm, const GpuSpec& gpu,
                   const GemmPlace& place) {
  const GemmRun run{.cus = cus_in(place.cus, gpu.cus),
                    .wgs_on_cu = resident(gpu, gemm.wg, {}),
                    .peers = 1,
                    .beside = place.beside};
  const std::int64_t fit = run.wgs_at_once();
  const bool stream_k = gemm.schedule == GemmSchedule::stream_k;
  const std::int64_t wgs = Tiles(tiled(gemm), run.peers).count() * gemm.split_k;
  Kernel kernel{.gpu = place.gpu, .role = KernelRole::compute};
  kernel.wg = footprint(gemm.wg.threads, gemm.wg.registers_per_thread, gemm.wg.lds, gpu.wave_size);
  kernel.persistent = is_persistent(gemm.schedule);
  kernel.work_list = work_list_of(gemm.schedule);
  kernel.max_grid = static_cast<std::uint32_t>(fit);
  kernel.cus = place.cus;
  const auto items = static_cast<std::uint32_t>(stream_k ? round_up(wgs, fit) * fit : wgs);
  if (stream_k) kernel.finish = graph.add_latch(items);
  // With stream_k the last item of each WG is its part of the tiles beyond the whole rounds.
  const std::int64_t whole = stream_k ? (round_up(wgs, fit) - 1) * fit : wgs;
  const std::int64_t part = stream_k ? round_up((wgs - whole) * Item::kUnit, fit) : 0;

  Grid draws;
  draws.gpus = 1;
  draws.per_peer = items;
  draws.jitter = gemm.jitter;
  draws.stream = "gemm/jitter";
  const std::uint32_t work = graph.add_work(tile_work_written_here(gemm, gpu, run));
  for (std::uint32_t i = 0; i < items; ++i) {
    const std::int64_t units = i < whole ? std::int64_t{Item::kUnit} : part;
    const std::int64_t drawn =
        scale_of(draws, place.seed, place.gpu.value, {.peer = 0, .index = i});
    graph.items.add(
        {.counts_down = kernel.finish,
         .waits_for = LatchId::none(),
         .work = work & 0xFFU,
         .scale = static_cast<std::uint32_t>(round_up(units * drawn, Item::kUnit)) & 0xFFFFFFU});
  }
  return kernel;
}

}  // namespace weft
