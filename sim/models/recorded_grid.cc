#include "sim/models/recorded_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/core/round_up.h"
#include "sim/models/recorded_kernel.h"
#include "sim/models/uneven_recorded_grid.h"
#include "sim/workloads/gemm.h"

namespace weft {
namespace {

constexpr int kSwizzle = 8;  // rows of tiles done column by column, as in the library's GEMMs
constexpr std::int64_t kMostTiles = 1 << 24;
constexpr int kTileStep = 8;  // rows or columns: what matrix instructions of all GPUs divide into

PeerGrid refused(std::string obstacle) {
  return {.grid = std::nullopt, .obstacle = std::move(obstacle)};
}

// "4096 or 4608": the multiples of `step` next to `number`.
std::string nearest(std::int64_t number, std::int64_t step) {
  const std::int64_t below = number / step * step;
  if (below == 0) return std::to_string(step);
  return fmt::format("{} or {}", below, below + step);
}

// Equal rounds of WGs that fill the GPU add up to the recorded time.
void set_works(const RecordedShape& kernel, const GpuSpec& gpu, const KernelVersion& version,
               Grid& grid) {
  grid.wg = recorded_wg_fused(kernel, gpu, version);
  grid.persistent = true;
  const std::int64_t wgs = std::int64_t{grid.per_peer} * grid.gpus;
  const std::int64_t fit = resident_on_gpu(gpu, grid.wg, {});
  grid.written = recorded_work(kernel, gpu, kernel.time, wgs, round_up(wgs, fit));
  grid.stored = grid.written;
  if (grid.stored.traffic.count() == 0) return;
  // What goes to a peer is not written to local memory.
  grid.stored.written_more = bytes(0);
  const Bytes result = bytes(grid.result_bytes / grid.parts);
  grid.stored.traffic -= std::min(grid.stored.traffic, result);
}

PeerGrid equal_parts(const RecordedShape& kernel, const CommunicationShape& call,
                     const GpuSpec& gpu, std::uint32_t peers, const KernelVersion& version,
                     std::int64_t wgs) {
  constexpr std::int64_t kMostOfWg = 1 << 30;
  if (call.buffer.count() / wgs > kMostOfWg) {
    return refused(fmt::format("each of {} WGs would send {} B; at most {} B", wgs,
                               call.buffer.count() / wgs, kMostOfWg));
  }
  Grid grid;
  grid.gpus = peers;
  grid.per_peer = static_cast<std::uint32_t>(wgs / peers);
  grid.in_a_row = grid.per_peer;
  grid.result_bytes = call.buffer.count() / wgs;
  set_works(kernel, gpu, version, grid);
  return {.grid = grid, .obstacle = {}};
}

PeerGrid by_recorded_wgs(const RecordedShape& kernel, const CommunicationShape& call,
                         const GpuSpec& gpu, std::uint32_t peers, const KernelVersion& version) {
  const char* hint = "";
  if (!kernel.work) {
    hint = "; what a WG makes was not recorded (PyTorch: record_shapes=True)";
  } else if (kernel.work->gemm) {
    hint = "; the kernel's name does not tell its tile";
  }
  if (kernel.wgs % peers != 0) {
    return refused(
        fmt::format("its {} WGs do not divide among {} GPUs{}", kernel.wgs, peers, hint));
  }
  if (call.buffer.count() % kernel.wgs != 0) {
    return refused(fmt::format("{} B do not divide among its {} WGs{}", call.buffer.count(),
                               kernel.wgs, hint));
  }
  return equal_parts(kernel, call, gpu, peers, version, kernel.wgs);
}

// For each peer as many WGs of whole rows, or of whole elements, as were recorded, or fewer.
PeerGrid by_results(const RecordedShape& kernel, const CommunicationShape& call, const GpuSpec& gpu,
                    std::uint32_t peers, const KernelVersion& version) {
  constexpr std::int64_t kMostWgs = 1 << 16;
  const RecordedWork& work = *kernel.work;
  if (work.written != call.buffer) {
    return refused(fmt::format(
        "the collective moves {} B and the kernel makes {} B: it would have to send its own result",
        call.buffer.count(), work.written.count()));
  }
  const std::int64_t results =
      work.rows > 0 ? work.rows : work.written.count() / work.element_bytes;
  if (results % peers != 0 || work.written.count() % results != 0) {
    return refused(fmt::format("its {} {} do not divide among {} GPUs; {} would", results,
                               work.rows > 0 ? "rows" : "elements", peers,
                               nearest(results, peers)));
  }
  const std::int64_t of_a_peer = results / peers;
  std::int64_t wgs = std::clamp<std::int64_t>(std::min(kernel.wgs, kMostWgs) / peers, 1, of_a_peer);
  while (of_a_peer % wgs != 0) --wgs;
  return equal_parts(kernel, call, gpu, peers, version, wgs * peers);
}

// A fused kernel is another one than the recorded: where the tiles of that one do not divide, it
// has the largest ones that do, of at least half their length. 0: there are none.
int dividing(std::int64_t length, int tile) {
  if (length % tile == 0) return tile;
  for (int each = tile / kTileStep * kTileStep; each >= tile / 2 && each > 0; each -= kTileStep) {
    if (length % each == 0) return each;
  }
  return 0;
}

// The GEMM in rows of tiles that divide among the peers. The tokens of a decoding step are only one
// row of tiles; where results are summed, columns of tiles divide instead.
std::optional<GemmWork> tiles_of(const RecordedGemm& gemm, CollectiveOp op, std::uint32_t peers) {
  GemmWork work;
  work.m = gemm.m * gemm.batch;
  work.n = gemm.n;
  work.k = gemm.k;
  work.tile_m = gemm.tile_m;
  work.tile_n = gemm.tile_n;
  work.split_k = gemm.split_k;
  work.swizzle = kSwizzle;
  const bool one_row = gemm.batch == 1 && gemm.m <= gemm.tile_m;
  if (op == CollectiveOp::all_reduce && one_row) {
    std::swap(work.m, work.n);
    work.tile_m = gemm.tile_n;
    work.tile_n = static_cast<int>(work.n);
  }
  if (work.m % peers != 0) return std::nullopt;
  const std::int64_t of_a_peer = work.m / peers;
  work.tile_m = dividing(gemm.batch == 1 ? of_a_peer : std::gcd(of_a_peer, gemm.m), work.tile_m);
  work.tile_n = dividing(work.n, work.tile_n);
  if (work.tile_m == 0 || work.tile_n == 0) return std::nullopt;
  const std::int64_t tiles = work.m / work.tile_m * (work.n / work.tile_n) * work.split_k;
  return tiles <= kMostTiles ? std::optional(work) : std::nullopt;
}

std::string tiles_refused(const RecordedGemm& gemm, CollectiveOp op, std::uint32_t peers) {
  const std::string tiles = fmt::format("{} x {}", gemm.tile_m, gemm.tile_n);
  if (dividing(gemm.n, gemm.tile_n) == 0) {
    return fmt::format("its {} columns are no whole tiles of {}; {} would be", gemm.n, tiles,
                       nearest(gemm.n, gemm.tile_n));
  }
  const std::int64_t rows = gemm.m * gemm.batch;
  if (gemm.batch == 1 && op == CollectiveOp::all_reduce && rows <= gemm.tile_m) {
    return fmt::format("its {} columns do not divide among {} GPUs in tiles of {}; {} would",
                       gemm.n, peers, gemm.tile_n,
                       nearest(gemm.n, std::int64_t{gemm.tile_n} * peers));
  }
  return fmt::format("its {} rows do not divide among {} GPUs in tiles of {}; {} would", rows,
                     peers, tiles, nearest(rows, std::int64_t{gemm.tile_m} * peers));
}

PeerGrid by_tiles(const RecordedShape& kernel, const CommunicationShape& call, const GpuSpec& gpu,
                  std::uint32_t peers, const KernelVersion& version) {
  const RecordedWork& recorded = *kernel.work;
  const RecordedGemm& gemm = *recorded.gemm;
  const std::optional<GemmWork> tiles = tiles_of(gemm, call.op, peers);
  if (!tiles) return refused(tiles_refused(gemm, call.op, peers));
  Grid grid = gemm_shape(*tiles, peers);
  // fp8 operands have results of 2 bytes.
  const std::int64_t results = gemm.m * gemm.n * gemm.batch;
  grid.element_bytes = recorded.written.count() / results;
  grid.result_bytes = std::int64_t{tiles->tile_m} * tiles->tile_n * grid.element_bytes;
  grid.input_bytes = tiles->tile_m * tiles->k * recorded.element_bytes;
  grid.work_list = WorkList::static_list;
  set_works(kernel, gpu, version, grid);
  return {.grid = grid, .obstacle = {}};
}

}  // namespace

WgShape recorded_wg_fused(const RecordedShape& kernel, const GpuSpec& gpu,
                          const KernelVersion& version) {
  WgShape wg = recorded_wg(kernel, gpu);
  if (resident(gpu, wg, version) == 0) {
    wg.registers_per_thread = std::max(1, wg.registers_per_thread - version.extra_registers);
  }
  return wg;
}

PeerGrid recorded_peer_grid(const RecordedShape& kernel, const PeerCall& with, const GpuSpec& gpu,
                            const KernelVersion& version) {
  const CommunicationShape& call = with.call;
  const std::uint32_t peers = with.peers;
  if (!call.pair_bytes.empty()) return uneven_recorded_grid(kernel, with, gpu, version);
  if (!kernel.work) return by_recorded_wgs(kernel, call, gpu, peers, version);
  if (!kernel.work->gemm) return by_results(kernel, call, gpu, peers, version);
  return kernel.work->gemm->tile_m > 0 ? by_tiles(kernel, call, gpu, peers, version)
                                       : by_recorded_wgs(kernel, call, gpu, peers, version);
}

}  // namespace weft
