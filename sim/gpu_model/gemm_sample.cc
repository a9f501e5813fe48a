#include "sim/gpu_model/gemm_sample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <utility>
#include <vector>

#include "sim/cache/policy.h"
#include "sim/cache/sample.h"
#include "sim/core/assert.h"
#include "sim/core/round_up.h"

namespace weft {
namespace {

constexpr std::int64_t kRequests = std::int64_t{1} << 19U;  // about how many are walked
constexpr std::int64_t kPanelRow = 128;                     // bytes of a row of A in a step of k
constexpr std::int64_t kLongestLine = 16'384;
constexpr std::int64_t kStreamed = 4'096;  // bytes that a WG of the stream takes at once
constexpr int kStreams = 32;               // such WGs
constexpr std::int64_t kStreamSteps = 100'000;

constexpr cache::Policy kPolicy{.loads = cache::Loads::cached, .stores = cache::Stores::write_back};

std::int64_t power_of_two_in(std::int64_t n) { return n & -n; }

// The panels of one step of k of a tile: 128 B of each of its rows and columns.
struct Panels {
  std::int64_t line;
  std::int64_t a;  // bytes of a panel
  std::int64_t b;
  std::int64_t steps;  // of a WG

  Panels(const GemmTiles& tiles, std::int64_t least_line)
      : line(std::clamp(power_of_two_in(tiles.tile_m | tiles.tile_n) * kPanelRow, least_line,
                        kLongestLine)),
        a(tiles.tile_m * kPanelRow),
        b(tiles.tile_n * kPanelRow),
        steps(round_up(tiles.row_bytes, kPanelRow * tiles.split_k)) {}

  [[nodiscard]] std::int64_t requests() const {
    return std::max<std::int64_t>(1, steps * (a + b) / line);
  }
};

// The same cache with longer lines: as many ways, fewer sets, and fewer slices where sets run out.
void lengthen(cache::LevelSpec& level, std::int64_t line) {
  while (level.slices > 1 && level.capacity.count() < line * level.ways * level.slices) {
    level.slices /= 2;
  }
  const std::int64_t set = line * level.ways * level.slices;
  const auto sets =
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, level.capacity.count() / set));
  level.capacity = bytes(set * static_cast<std::int64_t>(std::bit_floor(sets)));
}

cache::Hierarchy with_lines(cache::Hierarchy caches, std::int64_t line, int cus) {
  caches.cus = cus;
  caches.line = caches.sector = bytes(line);
  caches.interleave = std::max(caches.interleave, caches.line);
  caches.dram.row = std::max(caches.dram.row, caches.line);
  // Tiles go to the LDS and bypass the L1, which keeps nothing here.
  caches.l1.capacity = caches.line;
  caches.l1.ways = 1;
  lengthen(caches.l2, line);
  if (caches.side) lengthen(*caches.side, line);
  return caches;
}

cache::Kernel gemm_of(const GemmTiles& tiles, const Panels& panels) {
  cache::Kernel kernel{.name = "gemm"};
  kernel.grid_rows = tiles.rows;
  kernel.grid_columns = tiles.columns;
  kernel.grid_parts = tiles.split_k;
  kernel.group = tiles.together;
  kernel.steps = panels.steps;
  kernel.compute = picoseconds(tiles.arithmetic.count() / panels.steps);
  kernel.wgs_per_cu = tiles.wgs_per_cu;
  kernel.in_flight = static_cast<int>(
      std::clamp<std::int64_t>(2 * tiles.in_flight / (panels.a + panels.b), 2, 64));
  kernel.instruction = bytes(std::max(panels.a, panels.b));
  const auto panel = [&](int array, std::int64_t size) {
    cache::Access access{.op = cache::Op::load, .when = cache::When::step, .array = array};
    access.per_step = size;
    access.per_part = size * panels.steps;
    access.row = bytes(size);
    return access;
  };
  cache::Access a = panel(0, panels.a);
  a.per_row = a.per_part * tiles.split_k;
  cache::Access b = panel(1, panels.b);
  b.per_column = b.per_part * tiles.split_k;
  cache::Access c{.op = cache::Op::store, .when = cache::When::end, .array = 2};
  c.row = bytes(tiles.tile_m * tiles.tile_n * tiles.element_bytes);
  c.per_column = c.row.count();
  c.per_row = c.per_column * tiles.columns;
  kernel.accesses = {a, b, c};
  return kernel;
}

// A stream that reads and writes, in equal parts, data never used again, as long as the GEMM lasts.
cache::Kernel stream_of(const GemmTiles& tiles, std::int64_t line) {
  const std::int64_t piece = std::max(line, kStreamed);
  cache::Kernel kernel{.name = "beside", .beside = true};
  kernel.grid_rows = std::min(tiles.cus, kStreams);
  kernel.steps = kStreamSteps;
  kernel.compute = transfer_time(bytes(2 * piece * kernel.grid_rows), tiles.beside);
  kernel.in_flight = 2;
  kernel.instruction = bytes(piece);
  for (const cache::Op op : {cache::Op::load, cache::Op::store}) {
    cache::Access access{.op = op, .when = cache::When::step};
    access.array = op == cache::Op::load ? 3 : 4;
    access.per_step = piece;
    access.per_row = piece * kStreamSteps;
    access.row = bytes(piece);
    kernel.accesses.push_back(access);
  }
  return kernel;
}

cache::Application application_of(const GemmTiles& tiles, const Panels& panels) {
  const std::int64_t of_k = panels.steps * tiles.split_k;
  cache::Application application{.name = "gemm"};
  application.arrays = {{.name = "A", .size = bytes(tiles.rows * of_k * panels.a)},
                        {.name = "B", .size = bytes(tiles.columns * of_k * panels.b)},
                        {.name = "C",
                         .size = bytes(tiles.rows * tiles.columns * tiles.tile_m * tiles.tile_n *
                                       tiles.element_bytes)}};
  application.kernels.push_back(gemm_of(tiles, panels));
  if (tiles.beside.count() == 0) return application;
  application.kernels.push_back(stream_of(tiles, panels.line));
  const cache::Access& streamed = application.kernels.back().accesses.front();
  const Bytes size = bytes(streamed.per_row * application.kernels.back().grid_rows);
  application.arrays.push_back({.name = "in", .size = size});
  application.arrays.push_back({.name = "out", .size = size});
  return application;
}

// HBM bytes that the first `wgs` WGs of the GEMM read.
double read_by(const GemmSample& gemm, std::int64_t wgs) {
  const cache::Sample sample =
      cache::sample(gemm.caches, gemm.application, {.policy = kPolicy, .wgs = wgs}).front();
  const Bytes beside = gemm.caches.line * sample.loads_beside;
  return static_cast<double>((sample.dram.read - beside).count());
}

Bytes sampled(const GemmTiles& tiles, const cache::Hierarchy& caches) {
  const GemmSample gemm = gemm_sample(tiles, caches);
  const std::int64_t all = tiles.rows * tiles.columns * tiles.split_k;
  const double read = read_by(gemm, gemm.wgs);
  if (gemm.wgs == all) return bytes(std::llround(read));
  // Later WGs read as much as those of the sample's second half, after most first touches.
  const std::int64_t half = gemm.wgs / 2;
  const double each = (read - read_by(gemm, half)) / static_cast<double>(gemm.wgs - half);
  return bytes(std::llround(read + each * static_cast<double>(all - gemm.wgs)));
}

}  // namespace

GemmSample gemm_sample(const GemmTiles& tiles, const cache::Hierarchy& caches) {
  const Panels panels(tiles, caches.line.count());
  const std::int64_t all = tiles.rows * tiles.columns * tiles.split_k;
  const std::int64_t at_once = std::int64_t{tiles.cus} * tiles.wgs_per_cu;
  const std::int64_t enough = std::max(2 * at_once, kRequests / panels.requests());
  return {.caches = with_lines(caches, panels.line, tiles.cus),
          .application = application_of(tiles, panels),
          .wgs = std::min(all, enough)};
}

Bytes sampled_traffic(const GemmTiles& tiles, const cache::Hierarchy& caches) {
  struct Asked {
    GemmTiles tiles;
    cache::Hierarchy caches;
    bool operator==(const Asked&) const = default;
  };
  static std::mutex mutex;
  static std::vector<std::pair<Asked, Bytes>> answered;
  const Asked asked{tiles, caches};
  {
    const std::lock_guard lock(mutex);
    const auto found = std::find_if(answered.begin(), answered.end(),
                                    [&](const auto& one) { return one.first == asked; });
    if (found != answered.end()) return found->second;
  }
  // Unlocked, so that other threads go on meanwhile; the same question has the same answer.
  const Bytes answer = sampled(tiles, caches);
  const std::lock_guard lock(mutex);
  answered.emplace_back(asked, answer);
  return answer;
}

}  // namespace weft
