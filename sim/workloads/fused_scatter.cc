// Fused: results of tiles whose rows belong to several peers, an expert's whose tokens came from
// all of them in uneven numbers. One persistent kernel per GPU; a WG stores each row of its tile
// into its owner's memory, or puts it there, then one flag for each owner: no staging, nothing
// padded but the last row of tiles of an expert. How many flags will come is known from the
// dispatch. By role, the WG leaves its tile in memory, from where another one sends it.

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/workloads/fused_kernel.h"

namespace weft {
namespace {

class FusedScatter : public FusedLowering {
 public:
  FusedScatter(TaskGraph& graph, const Overlap& overlap, Senders senders)
      : FusedLowering(graph, overlap, senders, overlap.grid.name + "_" + overlap.collective),
        tiles_(*overlap.grid.scattered) {}

 private:
  void lower_team() override {
    finished_.clear();
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) {
      const std::uint32_t flags = flags_for(g);
      finished_.push_back(flags > 0 ? graph_.add_latch(flags) : LatchId::none());
    }
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) add_kernels(g);
  }

  // Of all tiles that have rows of this rank's.
  [[nodiscard]] std::uint32_t flags_for(std::uint32_t rank) const {
    std::uint32_t flags = 0;
    for (std::uint32_t from = 0; from < grid_.gpus; ++from) {
      if (from == rank) continue;
      for (const ScatteredTiles::Row& row : tiles_.rows[from]) {
        if (row[rank] > 0) flags += tiles_.columns;
      }
    }
    return flags;
  }

  void add_kernels(std::uint32_t rank) {
    std::vector<LatchId> made;  // by tile: what its WG counts down
    const std::vector<Tile> tiles = tiles_of(rank);
    if (by_role()) {
      Kernel sending = begin_sending(rank);
      sending.finish = finished_[rank];
      const std::uint32_t reading = graph_.add_work(sends_.reading(grid_.result_bytes));
      for (const Tile& tile : tiles) made.push_back(add_sending(rank, tile, reading));
      end(rank, sending);
    }
    Kernel kernel = begin_computing(rank);
    if (!by_role()) kernel.finish = finished_[rank];
    const std::uint32_t work = graph_.add_work(tiles_.works[rank]);
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const LatchId out = by_role() ? made[i] : send_rows(rank, tiles[i]);
      graph_.items.add({.counts_down = out,
                        .waits_for = LatchId::none(),
                        .work = work & 0xFFU,
                        .scale = Item::kUnit});
    }
    end(rank, kernel);
  }

  struct Tile {
    const ScatteredTiles::Row* row;
    std::uint32_t column;
  };

  // Row by row of a column of tiles, which share what they read of the weights.
  [[nodiscard]] std::vector<Tile> tiles_of(std::uint32_t rank) const {
    std::vector<Tile> tiles;
    for (std::uint32_t column = 0; column < tiles_.columns; ++column) {
      for (const ScatteredTiles::Row& row : tiles_.rows[rank]) tiles.push_back({&row, column});
    }
    return tiles;
  }

  // A WG that waits for the tile, reads its rows of peers and sends them; returns what it waits
  // for.
  LatchId add_sending(std::uint32_t rank, const Tile& tile, std::uint32_t reading) {
    const LatchId out = send_rows(rank, tile);
    if (out.is_none()) return out;  // all rows stay
    std::int64_t rows = 0;
    for (std::uint32_t to = 0; to < grid_.gpus; ++to) rows += to == rank ? 0 : (*tile.row)[to];
    const LatchId made = graph_.add_latch(1);
    graph_.items.add(
        {.counts_down = out,
         .waits_for = made,
         .work = reading & 0xFFU,
         .scale = part_of_item(rows * tiles_.bytes_of_column(tile.column), grid_.result_bytes) &
                  0xFFFFFFU});
    return made;
  }

  // A latch for the WG of a tile, which sends each peer its rows.
  LatchId send_rows(std::uint32_t rank, const Tile& tile) {
    const ScatteredTiles::Row& row = *tile.row;
    std::vector<Parcel> parcels;
    for (std::uint32_t step = 1; step < grid_.gpus; ++step) {
      const std::uint32_t to = (rank + step) % grid_.gpus;
      if (row[to] == 0) continue;
      parcels.push_back({.to = {.gpu = gpu(to), .told = finished_[to]},
                         .size = row[to] * tiles_.bytes_of_column(tile.column)});
    }
    if (parcels.empty()) return LatchId::none();
    return sends_.send_to_all(graph_, gpu(rank), parcels);
  }

  const ScatteredTiles& tiles_;
  std::vector<LatchId> finished_;  // by rank: flags still to come
};

}  // namespace

LastKernels lower_fused_scatter(TaskGraph& graph, const Overlap& overlap, Senders senders) {
  return FusedScatter(graph, overlap, senders).lower();
}

}  // namespace weft
