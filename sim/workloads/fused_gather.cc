// Fused: tiles whose rows come from several peers, an expert's to which all send tokens in uneven
// numbers. WGs send rows as fused_consumer.cc does, piece by piece, each for one row of the
// receiver's tiles; a tile starts when all its rows are there. Own rows come first, then those of
// the peers in the order in which they arrive. How many rows will come is known before.

#include <algorithm>

#include "sim/core/round_up.h"
#include "sim/workloads/consumer_order.h"
#include "sim/workloads/fused_kernel.h"

namespace weft {
namespace {

// Sends a piece of a row of a peer's tiles, or computes the tile of a column.
struct Step {
  bool sends = false;
  std::uint32_t to = 0;   // rank
  std::int64_t rows = 0;  // of tokens
  std::size_t row = 0;    // of tiles, the receiver's
};

class FusedGather : public FusedLowering {
 public:
  FusedGather(TaskGraph& graph, const Overlap& overlap, Senders senders)
      : FusedLowering(graph, overlap, senders, overlap.collective + "_" + overlap.grid.name),
        tiles_(*overlap.grid.scattered),
        rows_of_a_piece_(tiles_.rows_of_a_piece(overlap.options.fused.piece)) {}

 private:
  void lower_team() override {
    at_once_ = each_pair_has_a_link(overlap_, *team_);
    here_.clear();
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) {
      std::vector<LatchId>& latches = here_.emplace_back();
      for (const ScatteredTiles::Row& row : tiles_.rows[g]) {
        const std::int64_t pieces = pieces_for(g, row);
        latches.push_back(pieces > 0 ? graph_.add_latch(static_cast<std::uint32_t>(pieces))
                                     : LatchId::none());
      }
    }
    for (std::uint32_t g = 0; g < grid_.gpus; ++g) add_kernels(g);
  }

  [[nodiscard]] std::int64_t pieces_for(std::uint32_t g, const ScatteredTiles::Row& row) const {
    std::int64_t pieces = 0;
    for (std::uint32_t from = 0; from < grid_.gpus; ++from) {
      if (from != g) pieces += round_up(row[from], rows_of_a_piece_);
    }
    return pieces;
  }

  // Phase p > 0: what each gets from the p-th before it; or, with links of each pair, from all.
  [[nodiscard]] std::uint32_t phases() const { return at_once_ ? 2 : grid_.gpus; }

  // In which the last of a row's tokens come.
  [[nodiscard]] std::uint32_t phase_of(std::uint32_t g, const ScatteredTiles::Row& row) const {
    for (std::uint32_t p = grid_.gpus - 1; p > 0; --p) {
      if (row[(g + grid_.gpus - p) % grid_.gpus] > 0) return at_once_ ? 1 : p;
    }
    return 0;
  }

  [[nodiscard]] std::vector<Step> sends_in(std::uint32_t g, std::uint32_t phase) const {
    std::vector<Step> steps;
    for (std::uint32_t p = 1; p < grid_.gpus; ++p) {
      if (!at_once_ && p != phase) continue;
      const std::uint32_t to = (g + p) % grid_.gpus;
      for (std::size_t row = 0; row < tiles_.rows[to].size(); ++row) {
        const std::int64_t rows = tiles_.rows[to][row][g];
        for (std::int64_t at = 0; at < rows; at += rows_of_a_piece_) {
          steps.push_back({true, to, std::min(rows - at, rows_of_a_piece_), row});
        }
      }
    }
    if (at_once_) {  // to all peers in turn
      std::stable_sort(steps.begin(), steps.end(),
                       [](const Step& a, const Step& b) { return a.row < b.row; });
    }
    return steps;
  }

  // Of its tiles, by phase.
  [[nodiscard]] std::vector<std::vector<std::size_t>> rows_by_phase(std::uint32_t g) const {
    std::vector<std::vector<std::size_t>> rows(phases());
    for (std::size_t row = 0; row < tiles_.rows[g].size(); ++row) {
      rows[phase_of(g, tiles_.rows[g][row])].push_back(row);
    }
    return rows;
  }

  // Row by row of a column of tiles, which share what they read of the weights.
  [[nodiscard]] std::vector<Step> works_on(std::uint32_t g,
                                           const std::vector<std::size_t>& rows) const {
    std::vector<Step> steps;
    for (std::uint32_t column = 0; column < tiles_.columns; ++column) {
      for (const std::size_t row : rows) steps.push_back({false, g, 0, row});
    }
    return steps;
  }

  void add_kernels(std::uint32_t g) {
    std::vector<Step> steps;
    const std::vector<std::vector<std::size_t>> rows = rows_by_phase(g);
    for (std::uint32_t p = 0; p < phases(); ++p) {
      append_mixed(steps, works_on(g, rows[p]),
                   p + 1 < phases() ? sends_in(g, p + 1) : std::vector<Step>{});
    }
    if (by_role()) {
      const Kernel sending = begin_sending(g);
      for (const Step& step : steps) {
        if (step.sends) add_send(g, step);
      }
      end(g, sending);
    }
    const Kernel kernel = begin_computing(g);
    const std::uint32_t work = graph_.add_work(tiles_.works[g]);
    for (const Step& step : steps) {
      if (step.sends) {
        if (!by_role()) add_send(g, step);
        continue;
      }
      graph_.items.add({.counts_down = LatchId::none(),
                        .waits_for = here_[g][step.row],
                        .work = work & 0xFFU,
                        .scale = Item::kUnit});
    }
    end(g, kernel);
  }

  void add_send(std::uint32_t g, const Step& step) {
    const std::uint32_t to = gpu(step.to);
    const std::int64_t size = step.rows * tiles_.input_row;
    const LatchId out =
        sends_.send_to_all(graph_, gpu(g), {{{to, here_[step.to][step.row]}, size}});
    const std::int64_t written =
        sends_.same_node(gpu(g), to) ? 0 : rows_of_a_piece_ * tiles_.input_row;
    const Work piece = copy_work(overlap_.cluster.spec.gpu, grid_.wg,
                                 rows_of_a_piece_ * tiles_.input_made_from, written);
    graph_.items.add({.counts_down = out,
                      .waits_for = LatchId::none(),
                      .work = graph_.add_work(piece) & 0xFFU,
                      .scale = part_of_item(step.rows, rows_of_a_piece_) & 0xFFFFFFU});
  }

  const ScatteredTiles& tiles_;
  std::int64_t rows_of_a_piece_;
  bool at_once_ = false;
  std::vector<std::vector<LatchId>> here_;  // by rank and row of tiles: all its tokens are there
};

}  // namespace

LastKernels lower_fused_gather(TaskGraph& graph, const Overlap& overlap, Senders senders) {
  return FusedGather(graph, overlap, senders).lower();
}

}  // namespace weft
