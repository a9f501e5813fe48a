#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "sim/traces/followers.h"
#include "sim/traces/join_in_blocks.h"
#include "sim/traces/meetings.h"

namespace weft {
namespace {

// Nodes that become one operator, or one that takes no time and becomes none. There are as many as
// nodes, so they are small.
struct Unit {
  std::uint32_t meeting = UINT32_MAX;  // none: it has one node
  NodeAt first;
  std::uint32_t stream = 0;
  std::uint32_t waits_for = 0;   // nodes that some member waits for
  std::uint32_t turns_left = 0;  // members that are not yet first in their stream
  bool done = false;
  [[nodiscard]] bool meets() const { return meeting != UINT32_MAX; }
};

// The latest operators that a node waits for, one per stream of its rank: streams are in order.
using Front = std::vector<std::pair<std::uint32_t, OpId>>;

void wait_for(Front& front, std::uint32_t stream, OpId op) {
  for (auto& [known, latest] : front) {
    if (known != stream) continue;
    latest = std::max(latest, op);
    return;
  }
  front.emplace_back(stream, op);
}

class Merger {
 public:
  Merger(std::vector<RankTrace>& ranks, const TraceGroups& groups, int gpus,
         TraceProblems& problems, MadeFrom made_from)
      : ranks_(ranks), groups_(groups), gpus_(gpus), problems_(problems), made_from_(made_from) {}

  MergedRanks merge() {
    meetings_ = find_meetings(ranks_, groups_, problems_);
    if (problems_.any()) return {};
    has_positions_ = std::any_of(ranks_.begin(), ranks_.end(),
                                 [](const RankTrace& rank) { return !rank.positions.empty(); });
    make_units();
    if (has_positions_) check_positions();
    connect();
    form_queues();
    run();
    report_stuck();
    if (has_positions_ && !problems_.any()) {
      merged_.graph = join_in_blocks(std::move(merged_.graph), ranks_, made_by_, problems_);
    }
    return std::move(merged_);
  }

 private:
  using UnitId = std::uint32_t;
  // Ready units are taken in program order, those of equal position in the order of ranks.
  using Turn = std::tuple<std::uint32_t, std::uint32_t, UnitId>;

  [[nodiscard]] const TraceNode& node(NodeAt at) const { return ranks_[at.rank].nodes[at.node]; }
  UnitId& unit_of(NodeAt at) { return unit_of_[at.rank][at.node]; }
  [[nodiscard]] bool stands_for_all() const { return ranks_.size() == 1 && gpus_ > 1; }

  [[nodiscard]] std::span<const NodeAt> members(const Unit& unit) const {
    if (unit.meets()) return meetings_[unit.meeting].members;
    return {&unit.first, 1};
  }

  void make_units() {
    for (const RankTrace& rank : ranks_) {
      unit_of_.emplace_back(rank.nodes.size(), UINT32_MAX);
      fronts_.emplace_back(rank.nodes.size());
      followers_.emplace_back(rank);
      for (const TraceNode& one : rank.nodes) {
        const auto* compute = std::get_if<ComputeNode>(&one.what);
        if (compute != nullptr) lanes_ = std::max(lanes_, compute->lane + 1);
      }
    }
    for (std::uint32_t m = 0; m < meetings_.size(); ++m) {
      add({.meeting = m,
           .first = meetings_[m].members.front(),
           .stream = stream_of(meetings_[m].ranks)});
    }
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      for (std::uint32_t i = 0; i < ranks_[r].nodes.size(); ++i) {
        if (unit_of({r, i}) != UINT32_MAX) continue;
        Unit unit;
        unit.first = {r, i};
        const auto* compute = std::get_if<ComputeNode>(&node({r, i}).what);
        if (compute != nullptr) unit.stream = compute->lane;
        add(unit);
      }
    }
  }

  void add(const Unit& unit) {
    const auto id = static_cast<UnitId>(units_.size());
    for (const NodeAt at : members(unit)) unit_of(at) = id;
    units_.push_back(unit);
  }

  // The lowest stream after the lanes that none of these ranks uses with other partners.
  std::uint32_t stream_of(const std::vector<std::uint32_t>& ranks) {
    const auto known = streams_.find(ranks);
    if (known != streams_.end()) return known->second;
    std::uint32_t stream = lanes_;
    const auto taken = [&](std::uint32_t r) { return used_[r].contains(stream); };
    while (std::any_of(ranks.begin(), ranks.end(), taken)) ++stream;
    for (const std::uint32_t r : ranks) used_[r].insert(stream);
    streams_[ranks] = stream;
    return stream;
  }

  void connect() {
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      for (std::uint32_t i = 0; i < ranks_[r].nodes.size(); ++i) {
        const auto waits = static_cast<std::uint32_t>(node({r, i}).after.size());
        units_[unit_of({r, i})].waits_for += waits;
      }
    }
  }

  void check_positions() {
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      std::optional<ModelPosition> last;
      for (std::uint32_t i = 0; i < ranks_[r].nodes.size(); ++i) {
        const UnitId id = unit_of({r, i});
        if (takes_time(id)) check_position({r, i}, units_[id].first, last);
      }
    }
  }

  // `first`: of those that it meets with. `last`: the position before it on its rank.
  void check_position(NodeAt at, NodeAt first, std::optional<ModelPosition>& last) {
    const ModelPosition position = ranks_[at.rank].position_of(at.node);
    const ModelPosition of_first = ranks_[first.rank].position_of(first.node);
    if (position.block == ModelPosition::kNone) {
      wrong_position(at, "missing, but others have one: either all have a block, or none");
    } else if (last && !(*last < position)) {
      wrong_position(at, fmt::format("{}, after id {} of block {}: ids and blocks must rise",
                                     position.block, last->op, last->block));
    } else if (of_first.block != ModelPosition::kNone && position != of_first) {
      wrong_position(at,
                     fmt::format("{}, but {} of rank {}, with which it meets, is in {}: id and "
                                 "block must be the same",
                                 position.block, node(first).label, first.rank, of_first.block));
    } else {
      last = position;
    }
  }

  void wrong_position(NodeAt at, std::string message) {
    problems_.add(ranks_[at.rank].file, node(at).label + ": model_block", std::move(message));
  }

  [[nodiscard]] bool takes_time(UnitId id) const {
    const Unit& unit = units_[id];
    return unit.meets() || std::holds_alternative<ComputeNode>(node(unit.first).what);
  }

  // Links the nodes of each stream of a rank, one after another.
  void form_queues() {
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      std::map<std::uint32_t, std::uint32_t> last;
      ahead_.emplace_back(ranks_[r].nodes.size(), UINT32_MAX);
      behind_.emplace_back(ranks_[r].nodes.size(), UINT32_MAX);
      for (std::uint32_t i = 0; i < ranks_[r].nodes.size(); ++i) {
        const UnitId id = unit_of({r, i});
        if (!takes_time(id)) continue;
        const auto [before, first] = last.try_emplace(units_[id].stream, i);
        if (first) continue;
        behind_[r][before->second] = i;
        ahead_[r][i] = before->second;
        ++units_[id].turns_left;
        before->second = i;
      }
    }
  }

  [[nodiscard]] Turn turn_of(UnitId id) const {
    Turn turn{UINT32_MAX, UINT32_MAX, id};
    for (const NodeAt at : members(units_[id])) turn = std::min(turn, Turn{at.node, at.rank, id});
    return turn;
  }

  void offer(UnitId id) {
    const Unit& unit = units_[id];
    if (unit.done || unit.waits_for > 0) return;
    early_.erase(turn_of(id));
    (unit.turns_left == 0 ? ready_ : early_).insert(turn_of(id));
  }

  void run() {
    std::size_t ops = 0;
    for (UnitId id = 0; id < units_.size(); ++id) {
      if (takes_time(id)) ++ops;
      offer(id);
    }
    merged_.graph.ops.reserve(ops);  // grown step by step, they would take three times as much
    while (!ready_.empty() || !early_.empty()) {
      const bool in_order = !ready_.empty();
      std::set<Turn>& from = in_order ? ready_ : early_;
      const UnitId id = std::get<2>(*from.begin());
      from.erase(from.begin());
      if (!in_order) overtake(id);
      finish(id);
    }
  }

  // In blocks operators stand in the order of their ids, so that no later one can run first.
  void overtake(UnitId id) {
    ++merged_.out_of_order;
    if (!has_positions_) return;
    for (const NodeAt at : members(units_[id])) {
      const std::uint32_t ahead = ahead_[at.rank][at.node];
      if (ahead == UINT32_MAX) continue;
      wrong_position(at,
                     fmt::format("can run only before {}, which is ahead of it on its stream: "
                                 "nodes with blocks must stand in an order in which they can run",
                                 node({at.rank, ahead}).label));
    }
  }

  void finish(UnitId id) {
    units_[id].done = true;
    ++done_;
    if (takes_time(id)) emit(id);
    for (const NodeAt at : members(units_[id])) {
      const Front front = std::exchange(fronts_[at.rank][at.node], {});
      for (const std::uint32_t follower : followers_[at.rank].of(at.node)) {
        Front& of_follower = fronts_[at.rank][follower];
        for (const auto& [stream, op] : front) wait_for(of_follower, stream, op);
        --units_[unit_of({at.rank, follower})].waits_for;
        offer(unit_of({at.rank, follower}));
      }
      leave_queue(at);
    }
  }

  // Also from the middle, if the node has overtaken others. The node that is first then can run.
  void leave_queue(NodeAt at) {
    const std::uint32_t next = behind_[at.rank][at.node];
    const std::uint32_t before = ahead_[at.rank][at.node];
    if (before != UINT32_MAX) behind_[at.rank][before] = next;
    if (next == UINT32_MAX) return;
    ahead_[at.rank][next] = before;
    if (before != UINT32_MAX) return;
    --units_[unit_of({at.rank, next})].turns_left;
    offer(unit_of({at.rank, next}));
  }

  void emit(UnitId id) {
    const Unit& unit = units_[id];
    TraceNode& first = ranks_[unit.first.rank].nodes[unit.first.node];
    ModelOp op;
    op.name = std::move(first.name);
    op.part = std::move(first.part);
    op.stream = unit.stream;
    op.place = place_of(unit);
    if (unit.meets()) {
      op.shape = std::move(meetings_[unit.meeting].shape);
    } else {
      op.shape = std::move(std::get<ComputeNode>(first.what).shape);
    }
    std::set<OpId> after;
    for (const NodeAt at : members(unit)) {
      for (const auto& [stream, before] : fronts_[at.rank][at.node]) {
        if (stream != unit.stream) after.insert(before);
      }
    }
    op.after.assign(after.begin(), after.end());
    const OpId made = merged_.graph.add(std::move(op));
    if (has_positions_) made_by_.push_back(unit.first);
    if (made_from_ == MadeFrom::keep) {
      const auto all = members(unit);
      merged_.made_from.emplace_back(all.begin(), all.end());
    }
    for (const NodeAt at : members(unit)) fronts_[at.rank][at.node] = {{unit.stream, made}};
  }

  PlaceId place_of(const Unit& unit) {
    if (stands_for_all()) return merged_.graph.add_place(all_gpus(unit.meets()));
    std::vector<std::uint32_t> ranks{unit.first.rank};
    if (unit.meets()) ranks = meetings_[unit.meeting].ranks;
    const auto known = places_.find(ranks);
    if (known != places_.end()) return known->second;
    return places_[ranks] = merged_.graph.places.push_back({.groups = {ranks}});
  }

  [[nodiscard]] Groups all_gpus(bool together) const {
    std::vector<std::uint32_t> all(static_cast<std::size_t>(gpus_));
    std::iota(all.begin(), all.end(), 0U);
    if (together) return {.groups = {all}};
    Groups place;
    for (const std::uint32_t gpu : all) place.groups.push_back({gpu});
    return place;
  }

  // Reports a cycle within a rank, or ranks that wait for one another.
  void report_stuck() {
    if (done_ == units_.size()) return;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      const auto& nodes = ranks_[r].nodes;
      for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        const Unit& unit = units_[unit_of({r, i})];
        if (unit.done) continue;
        if (const auto before = undone_before({r, i})) {
          problems_.add(
              ranks_[r].file, nodes[i].label + ": dependencies",
              fmt::format("waits for {}, which in turn waits for it, or for something that never "
                          "runs",
                          node(*before).label));
        } else {
          problems_.add(ranks_[r].file, nodes[i].label + ": dependencies",
                        "the other ranks reach it only after something that waits for it");
        }
      }
    }
  }

  std::optional<NodeAt> undone_before(NodeAt at) {
    for (const std::uint32_t before : node(at).after) {
      if (!units_[unit_of({at.rank, before})].done) return NodeAt{at.rank, before};
    }
    return std::nullopt;
  }

  std::vector<RankTrace>& ranks_;  // operators take what they need of a node
  const TraceGroups& groups_;
  int gpus_;
  TraceProblems& problems_;
  MadeFrom made_from_;
  MergedRanks merged_;
  std::vector<Meeting> meetings_;
  std::vector<Unit> units_;
  std::vector<std::vector<UnitId>> unit_of_;       // by rank and node
  std::vector<std::vector<Front>> fronts_;         // by rank and node
  std::vector<Followers> followers_;               // by rank
  std::vector<std::vector<std::uint32_t>> ahead_;  // next ahead in its stream
  std::vector<std::vector<std::uint32_t>> behind_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> streams_;  // by GPUs
  std::map<std::vector<std::uint32_t>, PlaceId> places_;         // by GPUs
  std::map<std::uint32_t, std::set<std::uint32_t>> used_;        // streams, by rank
  std::set<Turn> ready_;
  std::set<Turn> early_;  // ready, but not first in their streams
  std::uint32_t lanes_ = 1;
  std::size_t done_ = 0;
  bool has_positions_ = false;
  std::vector<NodeAt> made_by_;  // by operator, if nodes have positions: its first node
};

}  // namespace

TraceGroups groups_of_all(int ranks) {
  TraceGroups groups;
  std::vector<std::uint32_t> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0U);
  groups.ranks.push_back(std::move(all));
  groups.names.emplace_back("all");
  return groups;
}

std::uint32_t add_group(TraceGroups& groups, const std::string& name,
                        const std::vector<std::uint32_t>& ranks) {
  const auto index = static_cast<std::uint32_t>(groups.ranks.size());
  groups.ranks.push_back(ranks);
  groups.names.push_back(name);
  groups.by_name[name] = index;
  return index;
}

MergedRanks merge_ranks(std::vector<RankTrace> ranks, const TraceGroups& groups, int gpus,
                        TraceProblems& problems, MadeFrom made_from) {
  return Merger(ranks, groups, gpus, problems, made_from).merge();
}

}  // namespace weft
