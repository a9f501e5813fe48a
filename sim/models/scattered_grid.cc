#include "sim/models/scattered_grid.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/core/round_up.h"
#include "sim/models/op_kernel.h"
#include "sim/workloads/gemm.h"

namespace weft {
namespace {

using Row = ScatteredTiles::Row;

std::int64_t rows_of(const GemmShape& gemm, std::uint32_t rank) {
  return gemm.m_by_rank.empty() ? gemm.m : gemm.m_by_rank[rank];
}

// Bytes of a row on its way: what the call says, or of C, or of A.
std::int64_t row_bytes(const GemmShape& gemm, const PeerCall& call) {
  if (call.call.row.count() > 0) return call.call.row.count();
  const std::int64_t size = size_of(gemm.dtype).count();
  if (call.travels == Travels::result) return gemm.n * size;
  return gemm.k * (gemm.fp8 == Fp8Scales::none ? size : 1);
}

// Rows that go from a rank to each, or come to it from each; its own, which stay, too. Empty if the
// collective does not move whole rows, or more than there are.
Row rows_of_peers(std::uint32_t rank, const GemmShape& gemm, const PeerCall& call) {
  const std::int64_t row = row_bytes(gemm, call);
  Row rows;
  for (std::uint32_t peer = 0; peer < call.peers; ++peer) {
    const bool sends = call.travels == Travels::result;
    const std::int64_t size =
        bytes_of_pair(call.call, sends ? rank : peer, sends ? peer : rank, call.peers);
    if (size % row != 0) return {};
    rows.push_back(size / row);
  }
  const std::int64_t all = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  return all <= rows_of(gemm, rank) * gemm.batch ? rows : Row{};
}

// An expert's share of each peer's rows, where a GPU's experts share them evenly.
Row of_expert(const Row& rows, std::int64_t expert, std::int64_t experts) {
  Row share;
  for (const std::int64_t count : rows) {
    share.push_back((expert + 1) * count / experts - expert * count / experts);
  }
  return share;
}

// By number; what arrives, own rows first, then in the order in which it comes: from the previous
// rank, then the one before.
std::vector<std::uint32_t> order_of_peers(std::uint32_t rank, const PeerCall& call) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < call.peers; ++i) {
    order.push_back(call.travels == Travels::result ? i : (rank + call.peers - i) % call.peers);
  }
  return order;
}

// The tile that the library would take for the GPU with the most rows, all of k at once.
GemmWork kernel_for(const GemmShape& gemm, const GpuSpec& gpu) {
  GemmShape most = gemm;
  for (const std::int64_t m : gemm.m_by_rank) most.m = std::max(most.m, m);
  most.m_by_rank.clear();
  most.whole_k = true;
  return choose_gemm(most, gpu, 1);
}

}  // namespace

void add_tiles(std::vector<Row>& tiles, Row rows, std::int64_t tile_m,
               const std::vector<std::uint32_t>& order) {
  std::size_t at = 0;
  while (true) {
    Row tile(rows.size(), 0);
    std::int64_t room = tile_m;
    for (; at < order.size(); ++at) {
      std::int64_t& left = rows[order[at]];
      const std::int64_t taken = std::min(room, left);
      tile[order[at]] += taken;
      left -= taken;
      room -= taken;
      if (left > 0) break;
    }
    if (room == tile_m) return;
    tiles.push_back(std::move(tile));
  }
}

PeerGrid scattered_grid(const GemmShape& gemm, const PeerCall& call, const GpuSpec& gpu,
                        const KernelVersion* version) {
  GemmWork work = kernel_for(gemm, gpu);
  if (work.m == 0) return {.grid = std::nullopt, .obstacle = "no tile of its kernel fits on a CU"};
  ScatteredTiles tiles;
  tiles.columns = static_cast<std::uint32_t>(round_up(gemm.n, work.tile_n));
  tiles.width = work.tile_n;
  tiles.row_elements = gemm.n;
  tiles.element_bytes = size_of(gemm.dtype).count();
  if (call.travels == Travels::input) {
    tiles.input_row = row_bytes(gemm, call);
    tiles.input_made_from = call.call.puts ? call.call.puts->made_from.count() : tiles.input_row;
  }
  std::uint32_t most = 1;
  for (std::uint32_t rank = 0; rank < call.peers; ++rank) {
    const Row rows = rows_of_peers(rank, gemm, call);
    if (rows.empty()) {
      return {.grid = std::nullopt,
              .obstacle = call.travels == Travels::result
                              ? "the collective does not move whole rows of the kernel's results"
                              : "the collective does not bring whole rows of what it multiplies"};
    }
    std::vector<Row>& own = tiles.rows.emplace_back();
    for (std::int64_t expert = 0; expert < gemm.batch; ++expert) {
      add_tiles(own, of_expert(rows, expert, gemm.batch), work.tile_m, order_of_peers(rank, call));
    }
    most = std::max(most, static_cast<std::uint32_t>(own.size()) * tiles.columns);
    if (version == nullptr) continue;
    work.m = std::max<std::int64_t>(1, rows_of(gemm, rank));
    const GemmRun run{.cus = gpu.cus, .wgs_on_cu = resident(gpu, work.wg, *version), .peers = 1};
    tiles.works.push_back(tile_work_written_here(work, gpu, run));
  }
  Grid grid;
  grid.gpus = call.peers;
  grid.per_peer = static_cast<std::uint32_t>(round_up(std::int64_t{most}, call.peers));
  grid.unit = 1;
  grid.result_bytes = std::int64_t{work.tile_m} * work.tile_n * tiles.element_bytes;
  grid.element_bytes = tiles.element_bytes;
  grid.wg = work.wg;
  grid.persistent = true;
  grid.scattered = std::move(tiles);
  return {.grid = std::move(grid), .obstacle = {}};
}

}  // namespace weft
