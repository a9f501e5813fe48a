#include "sim/models/beside.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "sim/core/assert.h"

namespace weft {
namespace {

// A pair is simulated until what is longer has ended, or what is shorter has come so many times.
constexpr std::int64_t kMostRepeats = 4;

// What hardly gets on goes on at this pace.
constexpr Slowdown kSlowest = 64 * kAsAlone;

std::vector<std::uint32_t> gpus_that_compute(const RunResult& piece) {
  std::vector<std::uint32_t> gpus;
  for (std::uint32_t gpu = 0; gpu < piece.gpus.size(); ++gpu) {
    if (piece.gpus[gpu].computing.count() > 0) gpus.push_back(gpu);
  }
  return gpus;
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

  std::vector<Neighbours> all() const {
    std::vector<Neighbours> all;
    for (std::uint32_t i = 0; i < timed_.runs.size(); ++i) {
      const PieceRun& run = timed_.runs[i];
      if (run.joined || !computes_on_[run.piece].empty()) continue;
      for (const BlockId block : blocks_beside(run)) all.push_back(meeting(i, block));
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
    const SimTime end = end_of(transfer, pieces_);
    std::set<BlockId> blocks;
    for (const std::uint32_t gpu : all_[transfer.piece]) {
      const std::vector<Span>& spans = computing_[gpu + first_gpu(transfer, cluster_)];
      auto at = std::partition_point(spans.begin(), spans.end(), [&](const Span& span) {
        return span.end <= transfer.start;
      });
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

  // With all runs of the block on the transfer's GPUs, of which some may be there at other times.
  [[nodiscard]] Neighbours meeting(std::uint32_t transfer, BlockId block) const {
    const PieceRun& run = timed_.runs[transfer];
    std::uint32_t first = run.node;
    std::vector<std::pair<PlacedPiece, std::uint32_t>> beside;
    for (const std::uint32_t i : of_block_.at(block)) {
      const PieceRun& other = timed_.runs[i];
      if (!on_gpus_of(run, other)) continue;
      beside.push_back({{other.piece, other.node}, i});
      first = std::min(first, other.node);
    }
    std::sort(beside.begin(), beside.end());
    Neighbours meeting{.pair = {.transfer = {run.piece, run.node - first}, .computing = {}},
                    .transfer = transfer,
                    .computing = {}};
    for (auto& [placed, i] : beside) {
      meeting.pair.computing.push_back({placed.piece, placed.node - first});
      meeting.computing.push_back(i);
    }
    return meeting;
  }

  const Folded& timed_;
  const std::vector<RunResult>& pieces_;
  const Cluster& cluster_;
  std::vector<std::vector<std::uint32_t>> computes_on_;  // by piece
  std::vector<std::vector<std::uint32_t>> all_;          // the same
  std::vector<std::vector<Span>> computing_;             // by GPU
  std::map<BlockId, std::vector<std::uint32_t>> of_block_;
};

std::uint32_t repeats(Duration shorter, Duration longer) {
  if (shorter == Duration{}) return 1;
  const std::int64_t times = (longer.count() + shorter.count() - 1) / shorter.count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(times, 1, kMostRepeats));
}

// Of what takes `alone` by itself and has taken `while_beside` with something beside it all the
// time, or has come as far as `alone` in that time.
Slowdown slowdown_of(Duration while_beside, Duration alone) {
  __extension__ using Wide = __int128;
  if (while_beside.count() <= 0) return kAsAlone;
  if (alone.count() <= 0) return kSlowest;
  const Wide slowdown = static_cast<Wide>(while_beside.count()) * kAsAlone / alone.count();
  return static_cast<Slowdown>(std::clamp<Wide>(slowdown, kAsAlone / 2, kSlowest));
}

// The first of two to end was beside the other all the time; the other only until then, and as
// alone for the rest.
std::pair<Slowdown, Slowdown> slowdowns_of(Duration first, Duration first_alone, Duration other,
                                           Duration other_alone) {
  return {slowdown_of(first, first_alone), slowdown_of(first, other_alone - (other - first))};
}

// What holds a transfer at one of its ends holds it at the other, too: at each moment the largest
// counts.
std::vector<Beside> largest_of(const std::vector<Beside>& all) {
  std::vector<SimTime> edges;
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

PairTogether::PairTogether(const PairBeside& pair, const std::vector<Piece>& pieces,
                           const std::vector<RunResult>& alone, const Cluster& cluster) {
  Duration computing;
  for (const PlacedPiece& placed : pair.computing) {
    computing = longer(computing, alone[placed.piece].time);
  }
  const Duration transfer = alone[pair.transfer.piece].time;
  for (const PlacedPiece& placed : pair.computing) {
    computing_.push_back(add(placed, repeats(computing, transfer), pieces, alone, cluster));
  }
  transfer_ = add(pair.transfer, repeats(transfer, computing), pieces, alone, cluster);
}

PairTogether::Member PairTogether::add(const PlacedPiece& placed, std::uint32_t times,
                                       const std::vector<Piece>& pieces,
                                       const std::vector<RunResult>& alone,
                                       const Cluster& cluster) {
  const Piece& piece = pieces[placed.piece];
  in_a_node_ = in_a_node_ && piece.in_a_node && placed.node == 0;
  const std::uint32_t shift =
      placed.node * static_cast<std::uint32_t>(cluster.spec.gpus_per_node);
  Member member{.alone = alone[placed.piece].time * times, .last = {}};
  for (std::uint32_t i = 0; i < times; ++i) {
    parts_.push_back({placed.piece, static_cast<std::uint32_t>(graph_.ops.size())});
    member.last = append(piece.graph(), shift, member.last);
  }
  return member;
}

// Its first operators wait for `after`. Returns those that none of it follows.
std::vector<OpId> PairTogether::append(const ModelGraph& piece, std::uint32_t shift,
                                       const std::vector<OpId>& after) {
  const auto first = static_cast<std::uint32_t>(graph_.ops.size());
  std::vector<PlaceId> places;
  for (Groups place : piece.places) {
    for (std::vector<std::uint32_t>& group : place.groups) {
      for (std::uint32_t& gpu : group) gpu += shift;
    }
    places.push_back(graph_.add_place(place));
  }
  std::vector<bool> followed(piece.ops.size());
  for (std::uint32_t i = 0; i < piece.ops.size(); ++i) {
    ModelOp op = piece.ops[OpId(i)];
    for (OpId& before : op.after) {
      followed[before.value] = true;
      before = OpId(before.value + first);
    }
    for (std::uint32_t j = i; j-- > 0;) {  // the one before it on its streams
      const ModelOp& other = piece.ops[OpId(j)];
      if (other.stream != op.stream || other.place != op.place) continue;
      followed[j] = true;
      break;
    }
    if (op.after.empty()) op.after = after;
    op.place = places[op.place.value];
    op.block = BlockId::none();
    graph_.add(std::move(op));
  }
  std::vector<OpId> last;
  for (std::uint32_t i = 0; i < followed.size(); ++i) {
    if (!followed[i]) last.emplace_back(first + i);
  }
  return last;
}

std::vector<OpId> PairTogether::exits() const {
  std::vector<OpId> exits = transfer_.last;
  for (const Member& member : computing_) {
    exits.insert(exits.end(), member.last.begin(), member.last.end());
  }
  std::sort(exits.begin(), exits.end());
  return exits;
}

SimTime PairTogether::end_of(const Member& member, const RunResult& together) const {
  const std::vector<OpId> exits = this->exits();
  SimTime end;
  for (const OpId op : member.last) {
    const auto at = std::lower_bound(exits.begin(), exits.end(), op) - exits.begin();
    end = later(end, together.exits[static_cast<std::size_t>(at)].end);
  }
  return end;
}

MutualSlowdown PairTogether::slowdown(const RunResult& together) const {
  const Duration transfer = end_of(transfer_, together) - SimTime{};
  MutualSlowdown slowdown;
  Duration computing;  // until none does
  Duration alone;
  for (const Member& member : computing_) {
    const Duration end = end_of(member, together) - SimTime{};
    slowdown.computing.push_back(
        end <= transfer ? slowdown_of(end, member.alone)
                        : slowdowns_of(transfer, transfer_.alone, end, member.alone).second);
    computing = longer(computing, end);
    alone = longer(alone, member.alone);
  }
  slowdown.transfer = transfer <= computing
                          ? slowdown_of(transfer, transfer_.alone)
                          : slowdowns_of(computing, alone, transfer, transfer_.alone).second;
  return slowdown;
}

std::vector<std::vector<Beside>> beside_runs(
    const Folded& timed, const std::vector<RunResult>& pieces,
    const std::vector<Neighbours>& neighbours,
    const std::map<PairBeside, MutualSlowdown>& slowdowns) {
  std::vector<std::vector<Beside>> beside(timed.runs.size());
  std::set<std::uint32_t> transfers;
  for (const Neighbours& one : neighbours) {
    const MutualSlowdown& slow = slowdowns.at(one.pair);
    const PieceRun& transfer = timed.runs[one.transfer];
    transfers.insert(one.transfer);
    SimTime first = SimTime::from_count(INT64_MAX);
    SimTime last;
    for (std::size_t i = 0; i < one.computing.size(); ++i) {
      const PieceRun& run = timed.runs[one.computing[i]];
      beside[one.computing[i]].push_back(
          {transfer.start, end_of(transfer, pieces), slow.computing[i]});
      first = std::min(first, run.start);
      last = later(last, end_of(run, pieces));
    }
    beside[one.transfer].push_back({first, last, slow.transfer});
  }
  for (const std::uint32_t run : transfers) beside[run] = largest_of(beside[run]);
  return beside;
}

}  // namespace weft
