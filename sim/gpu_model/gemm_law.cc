#include "sim/gpu_model/gemm_law.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "sim/core/round_up.h"
#include "sim/core/shared_server.h"
#include "sim/gpu_model/cu_law.h"
#include "sim/gpu_model/gemm_sample.h"
#include "sim/gpu_model/memory_law.h"
#include "sim/gpu_model/power_law.h"

namespace weft {
namespace {

// Rows of A and columns of B, in rows as long as they are multiplied: packed ones are shorter.
std::int64_t rows_of(const TiledGemm& gemm, std::int64_t of_a, std::int64_t of_b) {
  const LibraryKernel& library = gemm.library;
  if (library.a_size == 1 && library.b_size == 1) return of_a + of_b;
  return std::llround(static_cast<double>(of_a) * library.a_size +
                      static_cast<double>(of_b) * library.b_size);
}

// Those that the caches read for the first `at_once` tiles, which are dealt to them in turn: each
// row and column once per cache that has a tile of it.
std::int64_t lines_read(const TiledGemm& gemm, const Tiles& tiles, std::int64_t at_once,
                        int caches) {
  // In no order is the n-th tile beyond row n or column n. 0: not read by any cache so far.
  std::vector<std::uint16_t> row_read(static_cast<std::size_t>(std::min(tiles.rows, at_once)));
  std::vector<std::uint16_t> column_read(
      static_cast<std::size_t>(std::min(tiles.columns, at_once)));
  std::int64_t of_a = 0;
  std::int64_t of_b = 0;
  for (int cache = 1; cache <= caches; ++cache) {
    for (std::int64_t i = cache - 1; i < at_once; i += caches) {
      const Tiles::Place place = tiles.place_of(i);
      std::uint16_t& row = row_read[static_cast<std::size_t>(place.row)];
      std::uint16_t& column = column_read[static_cast<std::size_t>(place.column)];
      if (row != cache) of_a += gemm.tile_m;
      if (column != cache) of_b += gemm.tile_n;
      row = column = static_cast<std::uint16_t>(cache);
    }
  }
  return rows_of(gemm, of_a, of_b);
}

// The formula of docs/model.md, "GEMM".
std::int64_t traffic_of_waves(const TiledGemm& gemm, const GpuSpec& gpu, const GemmRun& run) {
  __extension__ using Wide = __int128;
  const Tiles tiles(gemm, run.peers);
  // The WGs of one tile together read its panels once, each its part of k.
  const std::int64_t at_once = std::min(tiles.count(), round_up(run.wgs_at_once(), gemm.split_k));
  // A memory-side cache sees all WGs. Otherwise WGs are dealt to the dies in turn, and where the
  // number of dies shares a factor with split_k, a part of k always goes to the same few of them.
  const int dies = gpu.l2.dies / std::gcd(gpu.l2.dies, gemm.split_k);
  const int caches = gpu.memory.side_cache.count() > 0 ? 1 : dies;
  const std::int64_t lines = lines_read(gemm, tiles, at_once, caches);
  // This much for every `at_once` tiles; operand_traffic() has at least both operands once.
  const Wide all = static_cast<Wide>(lines) * tiles.count() * gemm.k * gemm.element_bytes;
  return static_cast<std::int64_t>((all + at_once - 1) / at_once);
}

std::int64_t operands_once(const TiledGemm& gemm) {
  return rows_of(gemm, gemm.m, gemm.n) * gemm.k * gemm.element_bytes;
}

// Bytes of a row of A that a WG multiplies, of its part of k, in whole stages.
std::int64_t length_of(const TiledGemm& gemm) {
  const std::int64_t length = round_up(gemm.k, gemm.split_k) * gemm.element_bytes;
  return round_up(length, gemm.library.stage) * gemm.library.stage;
}

// Rounds of WGs are as long as one another but for the last, where some CUs may have none. Rates of
// a library's kernels are means over theirs.
double gain_of_last_round(const TiledGemm& gemm, const GpuSpec& gpu, const GemmRun& run) {
  if (gemm.library.load.count() > 0) return 1;
  const std::int64_t wgs = Tiles(gemm, run.peers).count() * gemm.split_k;
  const std::int64_t whole = wgs / run.wgs_at_once();
  const std::int64_t left = wgs - whole * run.wgs_at_once();
  if (left == 0 || left >= run.cus) return 1;
  const double part = static_cast<double>(left) / static_cast<double>(run.cus);
  const double last = 1 / gain_of_few_cus(gpu, gemm.efficiency, part);
  const auto rounds = static_cast<double>(whole);
  return (rounds + 1) / (rounds + last);
}

// The arithmetic of a WG, for its tile or its part of k.
TileWork arithmetic_of(const TiledGemm& gemm, const GpuSpec& gpu, const GemmRun& run) {
  const std::int64_t tile = 2 * std::int64_t{gemm.tile_m} * gemm.tile_n;
  TileWork work;
  work.flops = flops(tile * round_up(gemm.k, gemm.split_k));
  work.arithmetic_share =
      static_cast<std::uint32_t>(share_of_cu(gpu, gemm.wg.threads) * gemm.alone);
  work.arithmetic_alone = arithmetic_time(
      flops(tile * (length_of(gemm) / gemm.element_bytes)),
      matrix_rate(gpu, gemm.efficiency * gain_of_last_round(gemm, gpu, run), gemm.element_bytes),
      gpu, work.arithmetic_share);
  return work;
}

// How long a WG's arithmetic lasts with all residents of its CU at work.
Duration among_residents(const TileWork& work, const TiledGemm& gemm, const GemmRun& run) {
  const std::int64_t wgs = Tiles(gemm, run.peers).count() * gemm.split_k;
  const std::int64_t residents = std::min(run.wgs_on_cu, round_up(wgs, run.cus));
  const std::int64_t crowd = std::max<std::int64_t>(1000, residents * work.arithmetic_share);
  return picoseconds(work.arithmetic_alone.count() * crowd / 1000);
}

GemmTiles walked_tiles(const TiledGemm& gemm, const GpuSpec& gpu, const GemmRun& run) {
  const Tiles tiles(gemm, run.peers);
  GemmTiles asked;
  asked.rows = tiles.rows;
  asked.columns = tiles.columns;
  asked.together = tiles.together;
  asked.split_k = gemm.split_k;
  asked.row_bytes = gemm.k * gemm.element_bytes;
  asked.tile_m = gemm.tile_m;
  asked.tile_n = gemm.tile_n;
  asked.element_bytes = gemm.result_bytes;
  asked.cus = static_cast<int>(run.cus);
  asked.wgs_per_cu = static_cast<int>(run.wgs_on_cu);
  asked.arithmetic = among_residents(arithmetic_of(gemm, gpu, run), gemm, run);
  asked.in_flight = bytes_in_flight(gemm.wg);
  asked.beside = run.beside;
  return asked;
}

}  // namespace

Tiles::Tiles(const TiledGemm& gemm, std::int64_t peers)
    : rows(round_up(gemm.m, std::int64_t{gemm.tile_m} * gemm.library.pair) * gemm.library.pair),
      columns(round_up(gemm.n, gemm.tile_n)),
      rows_of_a_peer(rows / peers),
      together(std::min(gemm.group, rows_of_a_peer)) {}

Tiles::Place Tiles::place_of(std::int64_t index) const {
  const std::int64_t of_peer = index % (rows_of_a_peer * columns);
  const std::int64_t first = of_peer / (together * columns) * together;
  const std::int64_t group = std::min(together, rows_of_a_peer - first);
  const std::int64_t of_group = of_peer - first * columns;
  return {(index - of_peer) / columns + first + of_group % group, of_group / group};
}

std::int64_t operand_traffic(const TiledGemm& gemm, const GpuSpec& gpu, const GemmRun& run) {
  const std::int64_t read = gpu.caches
                                ? sampled_traffic(walked_tiles(gemm, gpu, run), *gpu.caches).count()
                                : traffic_of_waves(gemm, gpu, run);
  return std::max(read, operands_once(gemm));
}

namespace {

// Rows that the L2 reads for one WG of a library's kernel, in lines as full as aligned ones; or, if
// more, those that come into its CU. A cluster's WGs lie along the shorter side of their tiles.
double rows_for_a_wg(const TiledGemm& gemm) {
  const LibraryKernel& library = gemm.library;
  const double of_a = gemm.tile_m * library.a_size;
  const double of_b = gemm.tile_n * library.b_size;
  const Tiles tiles(gemm, 1);
  const bool share_a = gemm.tile_m >= gemm.tile_n;
  const auto together = static_cast<double>(
      std::min<std::int64_t>(library.cluster, share_a ? tiles.columns : tiles.rows));
  const double read_of_a = of_a * library.a_cost / (share_a ? together : 1);
  const double read_of_b = of_b * library.b_cost / (share_a ? 1 : together);
  return std::max(of_a + of_b, read_of_a + read_of_b);
}

// The time of one WG's operands between the L2 and its CU.
Duration loading_time(const TiledGemm& gemm, const GpuSpec& gpu) {
  const std::int64_t length = length_of(gemm);
  const LibraryKernel& library = gemm.library;
  if (library.load.count() > 0) {
    const double read = rows_for_a_wg(gemm) * static_cast<double>(length);
    return transfer_time(bytes(std::llround(read)), library.load);
  }
  const std::int64_t loaded = rows_of(gemm, gemm.tile_m, gemm.tile_n) * length;
  return gpu.l2.latency * waits_for(loaded, gemm.wg);
}

TileWork tile_work_reading(const TiledGemm& gemm, const GpuSpec& gpu, const GemmRun& run,
                           std::int64_t operands) {
  const std::int64_t wgs = Tiles(gemm, run.peers).count() * gemm.split_k;
  TileWork work = arithmetic_of(gemm, gpu, run);
  work.read = bytes(round_up(operands, wgs));
  work.more =
      bytes(std::llround(static_cast<double>(work.read.count()) * (gemm.library.operand_cost - 1)));
  // Loads run ahead of the arithmetic by what is in flight, so they last as long as it does: with
  // all residents at work, as their shares of the CU's rate make it last.
  work.memory_alone =
      longer(loading_time(gemm, gpu), among_residents(work, gemm, run)) + gemm.library.fixed;
  return work;
}

}  // namespace

TileWork tile_work(const TiledGemm& gemm, const GpuSpec& gpu, const GemmRun& run) {
  return tile_work_reading(gemm, gpu, run, operand_traffic(gemm, gpu, run));
}

Bytes tile_result(const TiledGemm& gemm) {
  const std::int64_t elements = std::int64_t{gemm.tile_m} * gemm.tile_n;
  const bool of_library = gemm.library.load.count() > 0;
  if (gemm.split_k > 1) return bytes(elements * kPartialBytes * (of_library ? 1 : 2));
  return bytes(elements * (gemm.library.accumulates ? 2 * kPartialBytes : gemm.result_bytes));
}

double gemm_seconds(const TiledGemm& gemm, const GpuSpec& gpu, std::int64_t batch) {
  const std::int64_t on_cu = resident_on_cu(gpu, gemm.wg);
  const GemmRun run{.cus = gpu.cus, .wgs_on_cu = on_cu, .peers = 1};
  const bool of_library = gemm.library.load.count() > 0;
  const TileWork work = of_library ? tile_work_reading(gemm, gpu, run, operands_once(gemm))
                                   : tile_work(gemm, gpu, run);
  const std::int64_t tiles = Tiles(gemm, 1).count() * gemm.split_k * batch;
  const std::int64_t rounds = round_up(tiles, on_cu * gpu.cus);
  const std::int64_t sharing = std::max<std::int64_t>(1, std::min(on_cu, round_up(tiles, gpu.cus)));
  const double crowd = std::max(1.0, static_cast<double>(sharing * work.arithmetic_share) / 1000);
  const double arithmetic = to_seconds(work.arithmetic_alone) * crowd;
  const double alone = std::max(arithmetic, to_seconds(work.memory_alone));
  const Bytes in_memory = work.read + work.more + tile_result(gemm);
  const Duration of_a_tile = transfer_time(in_memory, gpu.memory.bandwidth);
  // Bent as near the memory's bandwidth, where both take nearly as long.
  return bent(static_cast<double>(rounds) * alone,
              to_seconds(of_a_tile) * static_cast<double>(tiles), gpu.memory.bend);
}

FlopRate matrix_rate(const GpuSpec& gpu, double efficiency, std::int64_t element_bytes) {
  const bool fp8 = element_bytes == 1 && gpu.fp8_matrix.count() > 0;
  const FlopRate peak = fp8 ? gpu.fp8_matrix : gpu.bf16_matrix;
  const double wider = element_bytes > 2 ? 2 / static_cast<double>(element_bytes) : 1;
  return FlopRate::from_count(std::llround(static_cast<double>(peak.count()) * efficiency * wider));
}

double large_gemm_seconds(const GpuSpec& gpu, double operations, double efficiency) {
  return operations / static_cast<double>(matrix_rate(gpu, efficiency).count());
}

}  // namespace weft
