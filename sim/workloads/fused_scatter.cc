// Fused: results of tiles whose rows belong to several peers, an expert's whose tokens came from
// all of them in uneven numbers. One persistent kernel per GPU; a WG stores each row of its tile
// into its owner's memory, or puts it there, then one flag for each owner: no staging, nothing
// padded but the last row of tiles of an expert. How many flags will come is known from the
// dispatch.

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/workloads/fused_kernel.h"

namespace weft {
namespace {

class FusedScatter : public FusedLowering {
 public:
  FusedScatter(TaskGraph& graph, const Overlap& overlap)
      : FusedLowering(graph, overlap, Senders::wgs, overlap.grid.name + "_" + overlap.collective),
        tiles_(*overlap.grid.scattered) {}

 private:
  void lower_team() override {
    finished_.clear();
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) {
      const std::uint32_t flags = flags_for(g);
      finished_.push_back(flags > 0 ? graph_.add_latch(flags) : LatchId::none());
    }
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) add_kernel(g);
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

  void add_kernel(std::uint32_t rank) {
    Kernel kernel = begin(rank, FusedSends::Wgs::all);
    kernel.finish = finished_[rank];
    const std::uint32_t work = graph_.add_work(tiles_.works[rank]);
    // Row by row of a column of tiles, which share what they read of the weights.
    for (std::uint32_t column = 0; column < tiles_.columns; ++column) {
      for (const ScatteredTiles::Row& row : tiles_.rows[rank]) {
        graph_.items.push_back({.counts_down = send_rows(rank, row, column),
                                .waits_for = LatchId::none(),
                                .work = work & 0xFFU,
                                .scale = Item::kUnit});
      }
    }
    if (graph_.items.size() == kernel.first_item) {  // no expert of it has tokens
      graph_.items.push_back({.work = graph_.add_work({}) & 0xFFU, .scale = Item::kUnit});
    }
    end(rank, kernel);
  }

  // A latch for the WG of a tile, which sends each peer its rows.
  LatchId send_rows(std::uint32_t rank, const ScatteredTiles::Row& row, std::uint32_t column) {
    std::vector<Parcel> parcels;
    for (std::uint32_t step = 1; step < grid_.gpus; ++step) {
      const std::uint32_t to = (rank + step) % grid_.gpus;
      if (row[to] == 0) continue;
      parcels.push_back({.to = {.gpu = gpu(to), .told = finished_[to]},
                         .size = row[to] * tiles_.bytes_of_column(column)});
    }
    if (parcels.empty()) return LatchId::none();
    return sends_.send_to_all(graph_, gpu(rank), parcels);
  }

  const ScatteredTiles& tiles_;
  std::vector<LatchId> finished_;  // by rank: flags still to come
};

}  // namespace

LastKernels lower_fused_scatter(TaskGraph& graph, const Overlap& overlap) {
  return FusedScatter(graph, overlap).lower();
}

}  // namespace weft
