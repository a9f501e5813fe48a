#include "sim/models/schedule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/core/assert.h"
#include "sim/models/beside.h"

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

// When all that an operator waits for in earlier runs has ended.
SimTime release_of(const Entrance& entrance, const Folded& timed,
                   const std::vector<RunResult>& pieces) {
  SimTime release;
  for (const Before& before : entrance.before) {
    release = later(release, end_of(before, timed, pieces));
  }
  return release;
}

// By operator of a run, a time before which it does not begin: it follows those of its piece that
// it waits for, and on each GPU what is before it on its stream, if these took no time.
std::vector<SimTime> earliest_begins(const PieceRun& run, const Folded& timed,
                                     const std::vector<RunResult>& pieces) {
  const ModelGraph& graph = timed.pieces[run.piece].graph();
  std::vector<SimTime> begins(graph.ops.size());
  for (const std::vector<Entrance>& strand : run.strands) {
    for (const Entrance& entrance : strand) {
      begins[entrance.op.value] = release_of(entrance, timed, pieces);
    }
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, SimTime> on_stream;
  for (std::uint32_t i = 0; i < begins.size(); ++i) {
    const ModelOp& op = graph.ops[OpId(i)];
    for (const OpId before : op.after) begins[i] = later(begins[i], begins[before.value]);
    SimTime first = SimTime::from_count(INT64_MAX);
    for (const std::vector<std::uint32_t>& group : graph.places[op.place].groups) {
      SimTime all = begins[i];
      for (const std::uint32_t gpu : group) all = later(all, on_stream[{gpu, op.stream}]);
      for (const std::uint32_t gpu : group) on_stream[{gpu, op.stream}] = all;
      first = std::min(first, all);
    }
    begins[i] = first;
  }
  return begins;
}

// When the first strand of a run could begin to slow what else its GPUs do: one that is joined and
// computes, as soon as it computes; others, as soon as all that they wait for has ended.
SimTime first_of(const PieceRun& run, const Folded& timed, const std::vector<RunResult>& pieces) {
  const Piece& piece = timed.pieces[run.piece];
  std::map<std::uint32_t, SimTime> computes;  // by strand
  if (run.joined) {
    const std::vector<SimTime> begins = earliest_begins(run, timed, pieces);
    for (std::uint32_t op = 0; op < begins.size(); ++op) {
      if (communicates(piece.graph().ops[OpId(op)])) continue;
      SimTime& first = computes.try_emplace(piece.strand_of[op], begins[op]).first->second;
      first = std::min(first, begins[op]);
    }
  }
  SimTime first = SimTime::from_count(INT64_MAX);
  for (const std::vector<Entrance>& strand : run.strands) {
    SimTime begin;
    for (const Entrance& entrance : strand) {
      begin = later(begin, release_of(entrance, timed, pieces));
    }
    if (!computes.empty()) {
      const auto known = computes.find(piece.strand_of[strand.front().op.value]);
      if (known != computes.end()) begin = known->second;
    }
    first = std::min(first, begin);
  }
  return first;
}

// The first blocks of the runs that a run waits for and meets, if it could begin at `first`.
std::vector<BlockId> blocks_met(const PieceRun& run, SimTime first, const Meetings& meetings,
                                const Folded& timed, const std::vector<RunResult>& pieces) {
  std::vector<BlockId> met;
  for (const std::vector<Entrance>& strand : run.strands) {
    for (const Entrance& entrance : strand) {
      for (const Before& before : entrance.before) {
        const PieceRun& earlier = timed.runs[before.run];
        const SimTime end = end_of(earlier, pieces);
        if (first < end && meetings.meet(earlier, run)) met.push_back(earlier.block);
      }
    }
  }
  return met;
}

}  // namespace

Timetable::Timetable(const Folded& folded)
    : folded_(folded),
      starts_(folded.runs.size()),
      piece_of_(folded.runs.size()),
      paces_(folded.runs.size()),
      beside_(folded.runs.size()) {
  // The operators of blocks that are not joined begin together.
  std::vector<bool> together(folded.pieces.size(), true);
  for (const PieceRun& run : folded.runs) {
    if (run.joined) together[run.piece] = false;
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
    all = later(all, *starts_[before.run] + paces_[before.run].after(exit.end - SimTime{}));
  }
  return all;
}

void Timetable::add_run(std::uint32_t run, const std::vector<RunResult>& results) {
  struct Timed {
    OpId op;
    SimTime at;
  };
  std::vector<Timed> all;
  std::optional<SimTime> first;
  SimTime last;
  for (const std::vector<Entrance>& strand : folded_.runs[run].strands) {
    for (const Entrance& entrance : strand) {
      const std::optional<SimTime> at = release(entrance, results);
      if (!at) return;
      all.push_back({entrance.op, *at});
      if (entrance.first) first = first ? std::min(*first, *at) : *at;
      last = later(last, *at);
    }
  }
  SIM_ASSERT(first);
  const SimTime start = folded_.runs[run].joined ? *first : last;
  TimedPiece piece{.piece = folded_.runs[run].piece};
  for (const Timed& timed : all) {
    if (timed.at > start) piece.releases.push_back({timed.op, timed.at - start});
  }
  std::sort(piece.releases.begin(), piece.releases.end());
  starts_[run] = start;
  paces_[run] = Pace(beside_[run]);
  if (!roughly_) piece_of_[run] = add(std::move(piece));
}

void Timetable::again(std::vector<std::vector<Beside>> beside, bool roughly) {
  beside_ = std::move(beside);
  roughly_ = roughly;
  std::fill(starts_.begin(), starts_.end(), std::nullopt);
}

std::vector<TimedPiece> Timetable::next(const std::vector<RunResult>& results) {
  for (std::uint32_t run = 0; run < starts_.size(); ++run) {
    if (!starts_[run]) add_run(run, results);
  }
  return {pieces_.begin() + static_cast<std::ptrdiff_t>(results.size()), pieces_.end()};
}

Folded Timetable::timed() const {
  Folded timed;
  for (const TimedPiece& piece : pieces_) {
    const Piece& of = folded_.pieces[piece.piece];
    timed.pieces.push_back({.part = {},
                            .whole = &of.graph(),
                            .in_a_node = of.in_a_node,
                            .exits = of.exits,
                            .strand_of = of.strand_of});
  }
  timed.runs = folded_.runs;
  for (std::size_t run = 0; run < timed.runs.size(); ++run) {
    timed.runs[run].piece = piece_of_[run];
    timed.runs[run].start = *starts_[run];
    timed.runs[run].pace = paces_[run];
  }
  return timed;
}

SimTime end_of(const Before& before, const Folded& timed, const std::vector<RunResult>& pieces) {
  const PieceRun& run = timed.runs[before.run];
  const ExitUse& exit = pieces[run.piece].exits[exit_of(timed.pieces[run.piece], before.op)];
  return run.start + run.pace.after(exit.end - SimTime{});
}

Joined join_where_runs_meet(const Folded& timed, const std::vector<RunResult>& pieces,
                            const Cluster& cluster, Joined joined) {
  const Meetings meetings(timed, pieces, cluster);
  for (const PieceRun& run : timed.runs) {
    if (!meetings.can_meet(run)) continue;
    const SimTime first = first_of(run, timed, pieces);
    for (const BlockId met : blocks_met(run, first, meetings, timed, pieces)) {
      std::fill(joined.begin() + met.value + 1, joined.begin() + run.block.value + 1, true);
    }
  }
  return joined;
}

Joined join_around(const Joined& joined, const Joined& more, std::size_t further) {
  Joined wide = more;
  std::size_t end = 0;
  for (std::size_t first = 0; first < more.size(); first = end) {
    bool grown = false;
    for (end = first + 1; end < more.size() && more[end]; ++end) grown |= !joined[end];
    if (!grown) continue;
    const std::size_t from = first - std::min(first, further);
    const std::size_t to = std::min(more.size(), end + further);
    std::fill(wide.begin() + static_cast<std::ptrdiff_t>(from + 1),
              wide.begin() + static_cast<std::ptrdiff_t>(to), true);
  }
  return wide;
}

}  // namespace weft
