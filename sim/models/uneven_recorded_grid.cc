#include "sim/models/uneven_recorded_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/core/round_up.h"
#include "sim/models/recorded_grid.h"
#include "sim/models/recorded_kernel.h"
#include "sim/models/scattered_grid.h"

namespace weft {
namespace {

using Row = ScatteredTiles::Row;

std::int64_t sum_of(const Row& row) {
  return std::accumulate(row.begin(), row.end(), std::int64_t{0});
}

std::string obstacle_of(const RecordedGemm& gemm, Travels travels) {
  if (travels == Travels::result) return {};
  if (gemm.tile_m == 0) return "the kernel's name does not tell its tile";
  return gemm.batch == 1 ? "" : "of a batch it is unknown which rows come from whom";
}

class UnevenGrid {
 public:
  UnevenGrid(const RecordedShape& kernel, const PeerCall& call, const GpuSpec& gpu,
             const KernelVersion& version)
      : call_(call), gpu_(gpu) {
    for (std::uint32_t rank = 0; rank < call.peers; ++rank) {
      kernels_.push_back(kernel.of_rank(rank));
    }
    grid_.gpus = call.peers;
    grid_.unit = 1;
    grid_.persistent = true;
    grid_.wg = recorded_wg_fused(kernel, gpu, version);
  }

  PeerGrid made() {
    const auto& work = kernels_.front().work;
    if (work && work->gemm) {
      obstacle_ = obstacle_of(*work->gemm, call_.travels);
      if (!obstacle_.empty()) return refused();
    }
    const bool by_tiles = work && work->gemm && work->gemm->tile_m > 0 && work->gemm->batch == 1;
    if (by_tiles ? !cut_into_tiles() : !cut_into_parts()) return refused();
    std::size_t most = 1;
    for (std::uint32_t rank = 0; rank < call_.peers; ++rank) {
      add_work(rank);
      most = std::max(most, tiles_.rows[rank].size() * tiles_.columns);
    }
    grid_.per_peer =
        static_cast<std::uint32_t>(round_up(static_cast<std::int64_t>(most), call_.peers));
    grid_.element_bytes = tiles_.element_bytes;
    grid_.scattered = std::move(tiles_);
    return {.grid = std::move(grid_), .obstacle = {}};
  }

 private:
  PeerGrid refused() { return {.grid = std::nullopt, .obstacle = std::move(obstacle_)}; }

  // What goes from a rank to each, or comes to it from each.
  [[nodiscard]] Row blocks_of(std::uint32_t rank) const {
    Row blocks;
    for (std::uint32_t peer = 0; peer < call_.peers; ++peer) {
      const bool sends = call_.travels == Travels::result;
      blocks.push_back(
          bytes_of_pair(call_.call, sends ? rank : peer, sends ? peer : rank, call_.peers));
    }
    return blocks;
  }

  // Results for others first. What comes: own first, then from the previous rank, as it arrives.
  [[nodiscard]] std::vector<std::uint32_t> order_of(std::uint32_t rank) const {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < call_.peers; ++i) {
      const std::uint32_t step = call_.travels == Travels::result ? i + 1 : call_.peers - i;
      order.push_back((rank + step) % call_.peers);
    }
    return order;
  }

  void cut(std::uint32_t rank, Row blocks, std::int64_t size) {
    std::vector<Row>& own = tiles_.rows.emplace_back();
    add_tiles(own, std::move(blocks), size, order_of(rank));
    if (own.empty()) own.emplace_back(call_.peers, 0);  // its kernel has nothing to send
  }

  bool cut_into_parts() {
    constexpr std::int64_t kMostWgs = 1 << 16;
    constexpr std::int64_t kMostOfWg = 1 << 30;
    tiles_.columns = 1;
    tiles_.width = 1;
    tiles_.row_elements = 1;
    tiles_.element_bytes = 1;
    for (std::uint32_t rank = 0; rank < call_.peers; ++rank) {
      const RecordedShape& kernel = kernels_[rank];
      const Row blocks = blocks_of(rank);
      const std::int64_t all = sum_of(blocks);
      if (kernel.work && kernel.work->written.count() != all) {
        obstacle_ = fmt::format(
            "rank {} of the group sends {} B and the kernel makes {} B there: it would have to "
            "send its own result",
            rank, all, kernel.work->written.count());
        return false;
      }
      const std::int64_t each = std::max<std::int64_t>(
          1, round_up(all, std::clamp(kernel.wgs, std::int64_t{1}, kMostWgs)));
      if (each > kMostOfWg) {
        obstacle_ = fmt::format("a WG would send {} B; at most {} B", each, kMostOfWg);
        return false;
      }
      grid_.result_bytes = std::max(grid_.result_bytes, each);
      cut(rank, blocks, each);
    }
    return true;
  }

  bool cut_into_tiles() {
    const auto rows_of = [](const RecordedShape& kernel) { return kernel.work->gemm->m; };
    const RecordedShape& most =
        *std::max_element(kernels_.begin(), kernels_.end(),
                          [&](const auto& a, const auto& b) { return rows_of(a) < rows_of(b); });
    const RecordedGemm& tile = *most.work->gemm;
    const bool sends = call_.travels == Travels::result;
    const std::int64_t results = std::max<std::int64_t>(1, tile.m * tile.n);
    tiles_.columns = static_cast<std::uint32_t>(round_up(tile.n, tile.tile_n));
    tiles_.width = tile.tile_n;
    tiles_.row_elements = tile.n;
    tiles_.element_bytes = most.work->written.count() / results;  // fp8 operands: 2
    const std::int64_t row =
        sends ? tile.n * tiles_.element_bytes : tile.k * most.work->element_bytes;
    if (!sends) tiles_.input_row = tiles_.input_made_from = row;
    grid_.result_bytes = std::int64_t{tile.tile_m} * tile.tile_n * tiles_.element_bytes;
    for (std::uint32_t rank = 0; rank < call_.peers; ++rank) {
      const RecordedGemm& gemm = *kernels_[rank].work->gemm;
      Row blocks = blocks_of(rank);
      const std::int64_t all = sum_of(blocks);
      const bool whole = std::all_of(blocks.begin(), blocks.end(),
                                     [row](std::int64_t size) { return size % row == 0; });
      if (!whole || all != gemm.m * row || gemm.n != tile.n || gemm.k != tile.k) {
        obstacle_ =
            fmt::format("rank {} of the group {} {} B, and the GEMM there {} {} rows of {} B", rank,
                        sends ? "sends" : "gets", all, sends ? "makes" : "multiplies", gemm.m, row);
        return false;
      }
      for (std::int64_t& size : blocks) size /= row;
      cut(rank, std::move(blocks), tile.tile_m);
    }
    return true;
  }

  // In equal rounds of WGs that fill the GPU and add up to the recorded time. What goes to a peer
  // is not written to local memory.
  void add_work(std::uint32_t rank) {
    const RecordedShape& kernel = kernels_[rank];
    const auto wgs = static_cast<std::int64_t>(tiles_.rows[rank].size() * tiles_.columns);
    const std::int64_t fit = resident_on_gpu(gpu_, grid_.wg, {});
    Work work = recorded_work(kernel, gpu_, kernel.time, wgs, round_up(wgs, fit));
    if (call_.travels == Travels::result && work.traffic.count() > 0) {
      const Row blocks = blocks_of(rank);
      const std::int64_t sent = sum_of(blocks) - blocks[rank];
      work.traffic -= std::min(work.traffic, bytes(sent / wgs));
      work.written_more = surcharge_of_writes(gpu_.memory, blocks[rank] / wgs);
    }
    tiles_.works.push_back(work);
  }

  PeerCall call_;
  const GpuSpec& gpu_;
  std::vector<RecordedShape> kernels_;  // by rank
  Grid grid_;
  ScatteredTiles tiles_;
  std::string obstacle_;
};

}  // namespace

PeerGrid uneven_recorded_grid(const RecordedShape& kernel, const PeerCall& call, const GpuSpec& gpu,
                              const KernelVersion& version) {
  return UnevenGrid(kernel, call, gpu, version).made();
}

}  // namespace weft
