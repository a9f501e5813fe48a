#include "sim/models/beside.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/models/beginning.h"

namespace weft {
namespace {

// A pair is simulated until what is longer has ended, or what is shorter has come so many times.
constexpr std::int64_t kMostRepeats = 4;

// What hardly gets on goes on at this pace.
constexpr Slowdown kSlowest = 64 * kAsAlone;

std::uint32_t repeats(Duration shorter, Duration longer) {
  if (shorter == Duration{}) return 1;
  const std::int64_t times = (longer.count() + shorter.count() - 1) / shorter.count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(times, 1, kMostRepeats));
}

// Of all its operators.
std::size_t groups_of(const ModelGraph& graph) {
  std::size_t groups = 0;
  for (const ModelOp& op : graph.ops) groups += graph.places[op.place].groups.size();
  return groups;
}

// Of what ends after `end`, or after `alone` by itself, with something beside it until `other`.
Slowdown slowdown_of(Duration end, Duration alone, Duration other) {
  __extension__ using Wide = __int128;
  const Duration beside = std::min(end, other);
  const Duration done = alone - (end - beside);  // meanwhile, of what takes `alone`
  if (beside.count() <= 0) return kAsAlone;
  if (done.count() <= 0) return kSlowest;
  const Wide slowdown = static_cast<Wide>(beside.count()) * kAsAlone / done.count();
  return static_cast<Slowdown>(std::clamp<Wide>(slowdown, kAsAlone / 2, kSlowest));
}

}  // namespace

std::vector<Groups> groups_on(const ModelGraph& transfer, std::uint32_t shift,
                              const std::vector<bool>& gpus) {
  std::vector<Groups> of_place;
  for (const Groups& place : transfer.places) {
    Groups& some = of_place.emplace_back();
    for (const std::vector<std::uint32_t>& group : place.groups) {
      const bool has_one = std::any_of(group.begin(), group.end(), [&](std::uint32_t gpu) {
        return gpu + shift < gpus.size() && gpus[gpu + shift];
      });
      if (has_one) some.groups.push_back(group);
    }
  }
  std::vector<Groups> of_op;
  of_op.reserve(transfer.ops.size());
  for (const ModelOp& op : transfer.ops) of_op.push_back(of_place[op.place.value]);
  return of_op;
}

ModelGraph part_on(const ModelGraph& transfer, std::uint32_t shift, const std::vector<bool>& gpus) {
  const std::vector<Groups> groups = groups_on(transfer, shift, gpus);
  ModelGraph part;
  std::vector<OpId> ids;
  for (const ModelOp& op : transfer.ops) {
    const Groups& place = groups[ids.size()];
    if (place.groups.empty()) {
      ids.push_back(OpId::none());
      continue;
    }
    ModelOp own = op;
    own.after.clear();
    for (const OpId before : op.after) {
      if (!ids[before.value].is_none()) own.after.push_back(ids[before.value]);
    }
    own.place = part.add_place(place);
    ids.push_back(part.add(std::move(own)));
  }
  return part;
}

PairGraph::PairGraph(const PairBeside& pair, const std::vector<Piece>& pieces,
                     const std::vector<RunResult>& alone, const Cluster& cluster, Of of,
                     Computing how)
    : of_(of), transfer_piece_(pair.transfer.piece) {
  const auto shift_of = [&](const PlacedPiece& placed) {
    return placed.node * static_cast<std::uint32_t>(cluster.spec.gpus_per_node);
  };
  Duration computing;
  std::vector<bool> computes(cluster.gpus());
  for (const PlacedPiece& placed : pair.computing) {
    computing = longer(computing, alone[placed.piece].time);
    for (const std::uint32_t gpu : gpus_of(pieces[placed.piece].graph())) {
      computes[gpu + shift_of(placed)] = true;
    }
    in_a_node_ = in_a_node_ && pieces[placed.piece].in_a_node && placed.node == 0;
  }
  const Piece& transfer = pieces[pair.transfer.piece];
  in_a_node_ = in_a_node_ && transfer.in_a_node && pair.transfer.node == 0;
  const Duration transferring = alone[pair.transfer.piece].time;
  if (!pair.together) {
    repeats_ = {.transfer = repeats(transferring, computing),
                .computing = repeats(computing, transferring)};
  }
  // Slowed by the others it lasts longer than by itself; where that is longer still, is_enough().
  const Duration until = picoseconds((transferring * repeats_.transfer).count() / 4 * 5);
  for (const PlacedPiece& placed : pair.computing) {
    if (of == Of::transfer) break;
    const ModelGraph& all = pieces[placed.piece].graph();
    const auto operators = how == Computing::whole || repeats_.computing > 1
                               ? static_cast<std::uint32_t>(all.ops.size())
                               : beginning_of(all, alone[placed.piece], until);
    whole_computing_ = whole_computing_ && operators == all.ops.size();
    const ModelGraph graph = first_operators_of(all, operators);
    const auto first = static_cast<std::uint32_t>(graph_.ops.size());
    computing_.push_back(add(graph, repeats_.computing, shift_of(placed)));
    for (std::uint32_t i = 0; i < repeats_.computing; ++i) {
      parts_.push_back({placed.piece, first + i * operators, operators});
    }
  }
  if (of == Of::computing) return;
  const std::uint32_t shift = shift_of(pair.transfer);
  const ModelGraph part = part_on(transfer.graph(), shift, computes);
  whole_transfer_ = groups_of(part) == groups_of(transfer.graph());
  transfer_ = add(part, repeats_.transfer, shift);
}

PairGraph::Last PairGraph::add(const ModelGraph& piece, std::uint32_t times, std::uint32_t shift) {
  Last last;
  for (std::uint32_t i = 0; i < times; ++i) last = append(piece, shift, last);
  return last;
}

// Its first operators wait for `after`.
PairGraph::Last PairGraph::append(const ModelGraph& piece, std::uint32_t shift, const Last& after) {
  const auto first = static_cast<std::uint32_t>(graph_.ops.size());
  std::vector<PlaceId> places;
  for (Groups place : piece.places) {
    for (std::vector<std::uint32_t>& group : place.groups) {
      for (std::uint32_t& gpu : group) gpu += shift;
    }
    places.push_back(graph_.add_place(place));
  }
  std::vector<bool> followed(piece.ops.size());
  std::map<std::pair<std::uint32_t, PlaceId>, std::uint32_t> on_stream;  // the last one
  for (std::uint32_t i = 0; i < piece.ops.size(); ++i) {
    ModelOp op = piece.ops[OpId(i)];
    const auto [before, added] = on_stream.try_emplace({op.stream, op.place}, i);
    if (!added) followed[std::exchange(before->second, i)] = true;
    for (OpId& id : op.after) {
      followed[id.value] = true;
      id = OpId(id.value + first);
    }
    if (op.after.empty()) op.after = after;
    op.place = places[op.place.value];
    op.block = BlockId::none();
    graph_.add(std::move(op));
  }
  Last last;
  for (std::uint32_t i = 0; i < followed.size(); ++i) {
    if (!followed[i]) last.emplace_back(first + i);
  }
  return last;
}

std::int64_t PairGraph::pieces() const {
  const std::uint32_t transfers = of_ == Of::computing ? 0 : repeats_.transfer;
  return static_cast<std::int64_t>(parts_.size()) + transfers;
}

std::vector<OpId> PairGraph::exits() const {
  std::vector<OpId> exits = transfer_;
  for (const Last& last : computing_) exits.insert(exits.end(), last.begin(), last.end());
  std::sort(exits.begin(), exits.end());
  return exits;
}

PairGraph::Ends PairGraph::ends(const RunResult& result) const {
  const std::vector<OpId> exits = this->exits();
  const auto end_of_all = [&](const Last& last) {
    SimTime end;
    for (const OpId op : last) {
      const auto at = std::lower_bound(exits.begin(), exits.end(), op) - exits.begin();
      end = later(end, result.exits[static_cast<std::size_t>(at)].end);
    }
    return end - SimTime{};
  };
  Ends ends{.transfer = end_of_all(transfer_), .computing = {}};
  for (const Last& last : computing_) ends.computing.push_back(end_of_all(last));
  return ends;
}

bool PairGraph::is_enough(const Ends& ends) const {
  return whole_computing_ || std::all_of(ends.computing.begin(), ends.computing.end(),
                                         [&](Duration end) { return end >= ends.transfer; });
}

std::optional<PairGraph::Ends> PairGraph::ends_alone(const std::vector<RunResult>& alone) const {
  Ends ends;
  if (of_ == Of::computing && repeats_.computing == 1 && whole_computing_) {
    for (const Part& part : parts_) ends.computing.push_back(alone[part.piece].time);
    return ends;
  }
  if (of_ == Of::transfer && repeats_.transfer == 1 && whole_transfer_) {
    ends.transfer = alone[transfer_piece_].time;
    return ends;
  }
  return std::nullopt;
}

// Of two that begin together, what ends first is beside the other all the time; the other goes on
// as alone from then on.
MutualSlowdown slowdown_from(const PairGraph::Ends& together, const PairGraph::Ends& alone) {
  MutualSlowdown slowdown;
  Duration computes;
  for (std::size_t i = 0; i < together.computing.size(); ++i) {
    slowdown.computing.push_back(
        slowdown_of(together.computing[i], alone.computing[i], together.transfer));
    computes = longer(computes, together.computing[i]);
  }
  slowdown.transfer = slowdown_of(together.transfer, alone.transfer, computes);
  return slowdown;
}

}  // namespace weft
