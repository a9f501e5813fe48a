#include "sim/models/schedule.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace weft {
namespace {

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

// Whether its block stands for several. Runs are in the order of blocks; of the last nothing is
// known, and it may be.
bool is_joined(const Folded& folded, std::size_t run) {
  const std::uint32_t block = folded.runs[run].block.value;
  std::size_t next = run;
  while (next < folded.runs.size() && folded.runs[next].block.value == block) ++next;
  return next == folded.runs.size() || folded.runs[next].block.value > block + 1;
}

// When a strand of a run could begin to slow what else its GPUs do: of several blocks that are
// joined as soon as one of them computes, of one as soon as all that it waits for has ended.
SimTime first_of(const std::vector<Entrance>& strand, bool joined, const Folded& timed,
                 const PieceRun& run, const std::vector<RunResult>& pieces) {
  SimTime all;
  std::optional<SimTime> computes;
  for (const Entrance& entrance : strand) {
    SimTime release;
    for (const Before& before : entrance.before) {
      release = later(release, end_of(before, timed, pieces));
    }
    all = later(all, release);
    const ModelOp& op = timed.pieces[run.piece].graph().ops[entrance.op];
    if (!communicates(op)) computes = computes ? std::min(*computes, release) : release;
  }
  return joined && computes ? *computes : all;
}

}  // namespace

Timetable::Timetable(const Folded& folded)
    : folded_(folded), starts_(folded.runs.size()), piece_of_(folded.runs.size()) {
  // The operators of blocks that are not joined begin together.
  std::vector<bool> together(folded.pieces.size(), true);
  for (std::size_t run = 0; run < folded.runs.size(); ++run) {
    if (is_joined(folded, run)) together[folded.runs[run].piece] = false;
  }
  for (std::uint32_t piece = 0; piece < together.size(); ++piece) {
    if (together[piece]) add({.piece = piece});
  }
}

std::uint32_t Timetable::add(TimedPiece piece) {
  const auto index = static_cast<std::uint32_t>(pieces_.size());
  const auto [known, added] = known_.try_emplace(piece, index);
  if (added) pieces_.push_back(std::move(piece));
  return known->second;
}

// None: it waits for a run that has no result yet.
std::optional<SimTime> Timetable::release(const Entrance& entrance,
                                          const std::vector<RunResult>& results) const {
  SimTime all;
  for (const Before& before : entrance.before) {
    if (!starts_[before.run] || piece_of_[before.run] >= results.size()) return std::nullopt;
    const Piece& piece = folded_.pieces[folded_.runs[before.run].piece];
    const ExitUse& exit = results[piece_of_[before.run]].exits[exit_of(piece, before.op)];
    all = later(all, *starts_[before.run] + (exit.end - SimTime{}));
  }
  return all;
}

void Timetable::add_run(std::uint32_t run, const std::vector<RunResult>& results) {
  struct Timed {
    OpId op;
    SimTime at;
  };
  std::vector<Timed> all;
  SimTime start = SimTime::from_count(INT64_MAX);
  SimTime last;
  for (const std::vector<Entrance>& strand : folded_.runs[run].strands) {
    for (const Entrance& entrance : strand) {
      const std::optional<SimTime> at = release(entrance, results);
      if (!at) return;
      all.push_back({entrance.op, *at});
      if (entrance.first) start = std::min(start, *at);
      last = later(last, *at);
    }
  }
  if (!is_joined(folded_, run)) start = last;
  TimedPiece piece{.piece = folded_.runs[run].piece};
  for (const Timed& timed : all) {
    if (timed.at > start) piece.releases.push_back({timed.op, timed.at - start});
  }
  std::sort(piece.releases.begin(), piece.releases.end());
  starts_[run] = start;
  piece_of_[run] = add(std::move(piece));
}

std::vector<TimedPiece> Timetable::next(const std::vector<RunResult>& results) {
  for (std::uint32_t run = 0; run < starts_.size(); ++run) {
    if (!starts_[run]) add_run(run, results);
  }
  return {pieces_.begin() + static_cast<std::ptrdiff_t>(results.size()), pieces_.end()};
}

Folded Timetable::timed() && {
  Folded timed;
  for (const TimedPiece& piece : pieces_) {
    const Piece& of = folded_.pieces[piece.piece];
    timed.pieces.push_back(
        {.part = {}, .whole = &of.graph(), .in_a_node = of.in_a_node, .exits = of.exits});
  }
  timed.runs = folded_.runs;
  for (std::size_t run = 0; run < timed.runs.size(); ++run) {
    timed.runs[run].piece = piece_of_[run];
    timed.runs[run].start = *starts_[run];
  }
  return timed;
}

SimTime end_of(const Before& before, const Folded& timed, const std::vector<RunResult>& pieces) {
  const PieceRun& run = timed.runs[before.run];
  const ExitUse& exit = pieces[run.piece].exits[exit_of(timed.pieces[run.piece], before.op)];
  return run.start + (exit.end - SimTime{});
}

Joined join_where_runs_meet(const Folded& timed, const std::vector<RunResult>& pieces,
                            const Cluster& cluster, Joined joined) {
  const Meetings meetings(timed, pieces, cluster);
  for (std::size_t i = 0; i < timed.runs.size(); ++i) {
    const PieceRun& run = timed.runs[i];
    if (!meetings.can_meet(run)) continue;
    const bool of_several = is_joined(timed, i);
    SimTime first = SimTime::from_count(INT64_MAX);
    for (const std::vector<Entrance>& strand : run.strands) {
      first = std::min(first, first_of(strand, of_several, timed, run, pieces));
    }
    for (const std::vector<Entrance>& strand : run.strands) {
      for (const Entrance& entrance : strand) {
        for (const Before& before : entrance.before) {
          const PieceRun& earlier = timed.runs[before.run];
          if (first >= earlier.start + pieces[earlier.piece].time) continue;
          if (!meetings.meet(earlier, run)) continue;
          std::fill(joined.begin() + earlier.block.value + 1, joined.begin() + run.block.value + 1,
                    true);
        }
      }
    }
  }
  return joined;
}

}  // namespace weft
