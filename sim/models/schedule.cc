#include "sim/models/schedule.h"

#include <algorithm>

namespace weft {
namespace {

SimTime start_of(const std::vector<Before>& strand, const Folded& folded,
                 const std::vector<RunResult>& pieces, const std::vector<SimTime>& starts) {
  SimTime start;
  for (const Before& before : strand) {
    start = later(start, end_of(before, folded, pieces, starts[before.run]));
  }
  return start;
}

// The GPUs on which a piece computes, in ascending order.
std::vector<std::uint32_t> computing_gpus(const RunResult& piece) {
  std::vector<std::uint32_t> gpus;
  for (std::uint32_t gpu = 0; gpu < piece.gpus.size(); ++gpu) {
    if (piece.gpus[gpu].computing.count() > 0) gpus.push_back(gpu);
  }
  return gpus;
}

// Decides which runs meet, from the GPUs of their pieces.
class Meetings {
 public:
  Meetings(const Folded& folded, const std::vector<RunResult>& pieces, const Cluster& cluster)
      : cluster_(cluster) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      computing_.push_back(computing_gpus(pieces[i]));
      all_.push_back(gpus_of(folded.pieces[i].graph()));
    }
  }

  // A run of several strands of transfers has to keep their order; a lone one may overlap anything.
  [[nodiscard]] bool can_meet(const PieceRun& run) const {
    return run.strands.size() > 1 || !computing_[run.piece].empty();
  }

  // Whether `earlier` computes on a GPU where `run` computes or, if it computes nowhere, sends.
  [[nodiscard]] bool meet(const PieceRun& earlier, const PieceRun& run) const {
    const std::vector<std::uint32_t>& own =
        computing_[run.piece].empty() ? all_[run.piece] : computing_[run.piece];
    const std::vector<std::uint32_t>& others = computing_[earlier.piece];
    const std::uint32_t shift = first_gpu(run, cluster_);
    const std::uint32_t other_shift = first_gpu(earlier, cluster_);
    return std::any_of(own.begin(), own.end(), [&](std::uint32_t gpu) {
      const std::uint32_t whole = gpu + shift;
      return whole >= other_shift &&
             std::binary_search(others.begin(), others.end(), whole - other_shift);
    });
  }

 private:
  const Cluster& cluster_;
  std::vector<std::vector<std::uint32_t>> computing_;  // by piece
  std::vector<std::vector<std::uint32_t>> all_;
};

}  // namespace

SimTime end_of(const Before& before, const Folded& folded, const std::vector<RunResult>& pieces,
               SimTime start) {
  const std::uint32_t piece = folded.runs[before.run].piece;
  const ExitUse& exit = pieces[piece].exits[exit_of(folded.pieces[piece], before.op)];
  return start + (exit.end - SimTime{});
}

std::vector<SimTime> starts_of(const Folded& folded, const std::vector<RunResult>& pieces) {
  std::vector<SimTime> starts;
  starts.reserve(folded.runs.size());
  for (const PieceRun& run : folded.runs) {
    SimTime start;
    for (const std::vector<Before>& strand : run.strands) {
      start = later(start, start_of(strand, folded, pieces, starts));
    }
    starts.push_back(start);
  }
  return starts;
}

Joined join_where_runs_meet(const Folded& folded, const std::vector<RunResult>& pieces,
                            const Cluster& cluster, Joined joined) {
  const std::vector<SimTime> starts = starts_of(folded, pieces);
  const Meetings meetings(folded, pieces, cluster);
  for (const PieceRun& run : folded.runs) {
    if (!meetings.can_meet(run)) continue;
    SimTime first = SimTime::from_count(INT64_MAX);
    for (const std::vector<Before>& strand : run.strands) {
      first = std::min(first, start_of(strand, folded, pieces, starts));
    }
    for (const std::vector<Before>& strand : run.strands) {
      for (const Before& before : strand) {
        const PieceRun& earlier = folded.runs[before.run];
        if (first >= starts[before.run] + pieces[earlier.piece].time) continue;
        if (!meetings.meet(earlier, run)) continue;
        std::fill(joined.begin() + earlier.block.value + 1, joined.begin() + run.block.value + 1,
                  true);
      }
    }
  }
  return joined;
}

}  // namespace weft
