// Which transfers lie beside which runs.
#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "sim/core/ties.h"
#include "sim/models/beside.h"

namespace weft {
namespace {

std::vector<std::uint32_t> gpus_that_compute(const RunResult& piece) {
  std::vector<std::uint32_t> gpus;
  for (std::uint32_t gpu = 0; gpu < piece.gpus.size(); ++gpu) {
    if (piece.gpus[gpu].computing.count() > 0) gpus.push_back(gpu);
  }
  return gpus;
}

// When a transfer has ended on one GPU of its piece.
SimTime end_on(std::uint32_t gpu, const PieceRun& transfer, const std::vector<RunResult>& pieces) {
  const SimTime end = pieces[transfer.piece].gpus[gpu].end;
  return transfer.start + transfer.pace.after(end - SimTime{});
}

// The same on the GPUs that another run has.
SimTime end_on_gpus_of(const PieceRun& other, const std::vector<std::uint32_t>& its_gpus,
                       const PieceRun& transfer, const std::vector<RunResult>& pieces,
                       const Cluster& cluster) {
  SimTime end;
  const std::uint32_t shift = first_gpu(transfer, cluster);
  const std::size_t gpus = pieces[transfer.piece].gpus.size();
  for (const std::uint32_t gpu : its_gpus) {
    const std::uint32_t whole = gpu + first_gpu(other, cluster);
    if (whole >= shift && whole - shift < gpus) {
      end = later(end, end_on(whole - shift, transfer, pieces));
    }
  }
  return end;
}

class FindNeighbours {
 public:
  FindNeighbours(const Folded& timed, const std::vector<RunResult>& pieces, const Cluster& cluster)
      : timed_(timed), pieces_(pieces), cluster_(cluster), computing_(cluster.gpus()) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      computes_on_.push_back(gpus_that_compute(pieces[i]));
      all_.push_back(gpus_of(timed.pieces[i].graph()));
    }
    for (std::uint32_t i = 0; i < timed.runs.size(); ++i) {
      const PieceRun& run = timed.runs[i];
      if (run.joined || computes_on_[run.piece].empty()) continue;
      of_block_[run.block].push_back(i);
      const Span span{run.start, end_of(run, pieces), i};
      for (const std::uint32_t gpu : computes_on_[run.piece]) {
        computing_[gpu + first_gpu(run, cluster)].push_back(span);
      }
    }
    for (std::vector<Span>& spans : computing_) {
      std::stable_sort(spans.begin(), spans.end(),
                       [](const Span& a, const Span& b) { return a.end < b.end; });
    }
  }

  std::vector<Neighbours> all() {
    std::vector<Neighbours> all;
    for (std::uint32_t i = 0; i < timed_.runs.size(); ++i) {
      const PieceRun& run = timed_.runs[i];
      if (run.joined || !computes_on_[run.piece].empty()) continue;
      for (const BlockId block : blocks_beside(run)) add(i, block, all);
    }
    return all;
  }

 private:
  struct Span {
    SimTime start;
    SimTime end;
    std::uint32_t run = 0;
  };

  [[nodiscard]] std::set<BlockId> blocks_beside(const PieceRun& transfer) const {
    std::set<BlockId> blocks;
    for (const std::uint32_t gpu : all_[transfer.piece]) {
      const SimTime end = end_on(gpu, transfer, pieces_);
      const std::vector<Span>& spans = computing_[gpu + first_gpu(transfer, cluster_)];
      auto at = std::partition_point(spans.begin(), spans.end(),
                                     [&](const Span& span) { return span.end <= transfer.start; });
      for (; at != spans.end() && at->start < end; ++at) {
        blocks.insert(timed_.runs[at->run].block);
      }
    }
    return blocks;
  }

  [[nodiscard]] bool on_gpus_of(const PieceRun& transfer, const PieceRun& other) const {
    const std::vector<std::uint32_t>& gpus = all_[transfer.piece];
    const std::vector<std::uint32_t>& own = computes_on_[other.piece];
    return std::any_of(own.begin(), own.end(), [&](std::uint32_t gpu) {
      const std::uint32_t whole = gpu + first_gpu(other, cluster_);
      const std::uint32_t shift = first_gpu(transfer, cluster_);
      return whole >= shift && std::binary_search(gpus.begin(), gpus.end(), whole - shift);
    });
  }

  // With all runs of the block on the transfer's GPUs, of which some may be there at other times:
  // those together that a group of the transfer ties.
  void add(std::uint32_t transfer, BlockId block, std::vector<Neighbours>& all) {
    const PieceRun& run = timed_.runs[transfer];
    std::vector<std::uint32_t> beside;
    std::map<std::uint32_t, std::uint32_t> on_gpu;  // index in these, by GPU
    for (const std::uint32_t i : of_block_.at(block)) {
      const PieceRun& other = timed_.runs[i];
      if (!on_gpus_of(run, other)) continue;
      for (const std::uint32_t gpu : all_[other.piece]) {
        on_gpu[gpu + first_gpu(other, cluster_)] = static_cast<std::uint32_t>(beside.size());
      }
      beside.push_back(i);
    }
    Ties ties = tied_by(run, on_gpu, beside.size());
    std::map<std::uint32_t, std::vector<std::uint32_t>> tied;
    for (std::uint32_t i = 0; i < beside.size(); ++i) tied[ties.find(i)].push_back(beside[i]);
    for (auto& [first, runs] : tied) all.push_back(neighbours(transfer, std::move(runs)));
  }

  // Of runs, those that a group of the transfer has GPUs of. `on_gpu`: which of them is there.
  [[nodiscard]] Ties tied_by(const PieceRun& run,
                             const std::map<std::uint32_t, std::uint32_t>& on_gpu,
                             std::size_t runs) const {
    const std::uint32_t shift = first_gpu(run, cluster_);
    Ties ties(runs);
    const ModelGraph& graph = timed_.pieces[run.piece].graph();
    for (const ModelOp& op : graph.ops) {
      for (const std::vector<std::uint32_t>& group : graph.places[op.place].groups) {
        std::optional<std::uint32_t> first;
        for (const std::uint32_t gpu : group) {
          const auto on = on_gpu.find(gpu + shift);
          if (on == on_gpu.end()) continue;
          if (first) ties.tie(*first, on->second);
          first = on->second;
        }
      }
    }
    return ties;
  }

  // The groups of a transfer on GPUs that these runs have, by operator.
  using Cut = std::vector<std::vector<std::vector<std::uint32_t>>>;
  [[nodiscard]] Cut cut(const PieceRun& transfer, const std::vector<std::uint32_t>& runs) const {
    std::set<std::uint32_t> gpus;
    for (const std::uint32_t i : runs) {
      const PieceRun& run = timed_.runs[i];
      for (const std::uint32_t gpu : all_[run.piece]) gpus.insert(gpu + first_gpu(run, cluster_));
    }
    Cut cut;
    const ModelGraph& graph = timed_.pieces[transfer.piece].graph();
    for (const ModelOp& op : graph.ops) {
      std::vector<std::vector<std::uint32_t>>& groups = cut.emplace_back();
      for (std::vector<std::uint32_t> group : graph.places[op.place].groups) {
        for (std::uint32_t& gpu : group) gpu += first_gpu(transfer, cluster_);
        const bool some = std::any_of(group.begin(), group.end(),
                                      [&](std::uint32_t gpu) { return gpus.count(gpu) > 0; });
        if (some) groups.push_back(std::move(group));
      }
    }
    return cut;
  }

  // Where they lie in a sound network is left out: what slows them is on their GPUs.
  [[nodiscard]] Neighbours neighbours(std::uint32_t transfer, std::vector<std::uint32_t> runs) {
    const PieceRun& run = timed_.runs[transfer];
    const auto placed = [&](std::uint32_t i) {
      return PlacedPiece{timed_.runs[i].piece, timed_.runs[i].node};
    };
    std::sort(runs.begin(), runs.end(),
              [&](std::uint32_t a, std::uint32_t b) { return placed(a) < placed(b); });
    Cut groups = cut(run, runs);
    std::uint32_t first = cluster_.unsound.empty() ? UINT32_MAX : 0;
    for (const auto& of_op : groups) {
      for (const auto& group : of_op) {
        for (const std::uint32_t gpu : group) first = std::min(first, node_of(gpu));
      }
    }
    for (const std::uint32_t i : runs) first = std::min(first, timed_.runs[i].node);
    for (auto& of_op : groups) {
      for (auto& group : of_op) {
        for (std::uint32_t& gpu : group) gpu -= first * gpus_per_node();
      }
    }
    Neighbours all{.pair = {.transfer = {run.piece, run.node - first}, .computing = {}},
                   .transfer = transfer,
                   .computing = std::move(runs)};
    for (const std::uint32_t i : all.computing) {
      all.pair.computing.push_back({placed(i).piece, placed(i).node - first});
    }
    Content content{alike(run.piece), std::move(groups), all.pair.computing};
    all.pair = known_.try_emplace(std::move(content), all.pair).first->second;
    return all;
  }

  // The first piece whose operators do the same as a transfer's, wherever they are.
  [[nodiscard]] std::uint32_t alike(std::uint32_t piece) {
    const auto [known, added] = alike_.try_emplace(piece, piece);
    if (!added) return known->second;
    const ModelGraph& graph = timed_.pieces[piece].graph();
    const auto same = [](const ModelOp& a, const ModelOp& b) {
      return a.after == b.after && do_the_same(a, b);
    };
    for (const auto& [other, first] : alike_) {
      const ModelGraph& of = timed_.pieces[other].graph();
      if (other == piece ||
          !std::equal(graph.ops.begin(), graph.ops.end(), of.ops.begin(), of.ops.end(), same)) {
        continue;
      }
      known->second = first;
      break;
    }
    return known->second;
  }

  [[nodiscard]] std::uint32_t gpus_per_node() const {
    return static_cast<std::uint32_t>(cluster_.spec.gpus_per_node);
  }
  [[nodiscard]] std::uint32_t node_of(std::uint32_t gpu) const {
    return cluster_.node_of(GpuId(gpu));
  }

  // What tells pairs apart.
  using Content = std::tuple<std::uint32_t, Cut, std::vector<PlacedPiece>>;
  const Folded& timed_;
  const std::vector<RunResult>& pieces_;
  const Cluster& cluster_;
  std::vector<std::vector<std::uint32_t>> computes_on_;  // by piece
  std::vector<std::vector<std::uint32_t>> all_;          // the same
  std::vector<std::vector<Span>> computing_;             // by GPU
  std::map<BlockId, std::vector<std::uint32_t>> of_block_;
  std::map<std::uint32_t, std::uint32_t> alike_;
  std::map<Content, PairBeside> known_;  // the first with this content stands for all
};

// What holds a transfer at one of its ends holds it at the other, too: at each moment the largest
// counts.
std::vector<Beside> largest_of(const std::vector<Beside>& all) {
  std::vector<Duration> edges;
  for (const Beside& one : all) {
    edges.push_back(one.from);
    edges.push_back(one.until);
  }
  std::sort(edges.begin(), edges.end());
  std::vector<Beside> largest;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    std::optional<Slowdown> slowdown;
    for (const Beside& one : all) {
      if (one.from > edges[i] || one.until < edges[i + 1]) continue;
      slowdown = slowdown ? std::max(*slowdown, one.slowdown) : one.slowdown;
    }
    if (slowdown && edges[i] < edges[i + 1]) largest.push_back({edges[i], edges[i + 1], *slowdown});
  }
  return largest;
}

}  // namespace

SimTime end_of(const PieceRun& run, const std::vector<RunResult>& pieces) {
  return run.start + run.pace.after(pieces[run.piece].time);
}

std::vector<Neighbours> neighbours_in(const Folded& timed, const std::vector<RunResult>& pieces,
                                      const Cluster& cluster) {
  return FindNeighbours(timed, pieces, cluster).all();
}

std::vector<std::vector<Beside>> beside_runs(const Folded& timed,
                                             const std::vector<RunResult>& pieces,
                                             const std::vector<Neighbours>& neighbours,
                                             const std::map<PairBeside, MutualSlowdown>& slowdowns,
                                             const Cluster& cluster) {
  std::vector<std::vector<Beside>> beside(timed.runs.size());
  std::vector<std::vector<std::uint32_t>> gpus;  // by piece
  gpus.reserve(timed.pieces.size());
  for (const Piece& piece : timed.pieces) gpus.push_back(gpus_of(piece.graph()));
  std::set<std::uint32_t> transfers;
  for (const Neighbours& one : neighbours) {
    const MutualSlowdown& slow = slowdowns.at(one.pair);
    const PieceRun& transfer = timed.runs[one.transfer];
    transfers.insert(one.transfer);
    SimTime first = SimTime::from_count(INT64_MAX);
    SimTime last;
    for (std::size_t i = 0; i < one.computing.size(); ++i) {
      const PieceRun& run = timed.runs[one.computing[i]];
      const SimTime until = end_on_gpus_of(run, gpus[run.piece], transfer, pieces, cluster);
      beside[one.computing[i]].push_back(
          {transfer.start - run.start, until - run.start, slow.computing[i]});
      first = std::min(first, run.start);
      last = later(last, end_of(run, pieces));
    }
    beside[one.transfer].push_back({first - transfer.start, last - transfer.start, slow.transfer});
  }
  for (const std::uint32_t run : transfers) beside[run] = largest_of(beside[run]);
  return beside;
}

}  // namespace weft
