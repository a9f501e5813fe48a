#include "sim/models/alike_copies.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "sim/collectives/collective_choice.h"
#include "sim/models/collective_rules.h"
#include "sim/models/fusions.h"

namespace weft {
namespace {

using Group = std::vector<std::uint32_t>;

// A group of which the first ranks are in the first part; or one that is in one part.
enum class Lies { in_first_part, in_another, across, otherwise };

// A collective that is no part of a model.
bool is_alone(const Scenario& scenario) {
  return row_of(scenario.workload.kind).family == Family::collective;
}

class FirstParts {
 public:
  FirstParts(const Scenario& scenario, const Cluster& whole, const ModelGraph& graph,
             const Representatives& which)
      : scenario_(scenario), whole_(whole), graph_(graph), which_(which) {}

  // The graph of the first parts; nothing if it does not stand for all.
  std::optional<ModelGraph> made() {
    kept_.blocks = graph_.blocks;
    for (const Groups& place : graph_.places) {
      if (!add_place(place)) return std::nullopt;
    }
    for (const ModelOp& op : graph_.ops) {
      if (!add_op(op)) return std::nullopt;
    }
    if (is_overlapped()) return std::nullopt;
    return std::move(kept_);
  }

 private:
  [[nodiscard]] std::uint32_t turn_of(std::uint32_t gpu) const {
    return which_.turn_of(whole_.node_of(GpuId(gpu)));
  }

  [[nodiscard]] Lies how_lies(const Group& group) const {
    const std::uint32_t first = turn_of(group.front());
    const auto in_one = [&](std::uint32_t gpu) { return turn_of(gpu) == first; };
    if (std::all_of(group.begin(), group.end(), in_one)) {
      return first == 0 ? Lies::in_first_part : Lies::in_another;
    }
    if (group.size() % which_.turns() != 0) return Lies::otherwise;
    const std::size_t part = group.size() / which_.turns();
    for (std::size_t rank = 0; rank < group.size(); ++rank) {
      const auto turn = static_cast<std::uint32_t>(rank / part);
      if (group[rank] != which_.stood_for(which_.of_gpu(group[rank % part]), turn)) {
        return Lies::otherwise;
      }
    }
    return Lies::across;
  }

  // Groups of one place lie alike: within parts, as many in each, or across them.
  bool add_place(const Groups& place) {
    Groups kept;
    std::size_t across = 0;
    for (const Group& group : place.groups) {
      const Lies lies = how_lies(group);
      if (lies == Lies::otherwise) return false;
      if (lies == Lies::in_another) continue;
      Group& part = kept.groups.emplace_back(group);
      if (lies == Lies::across) {
        part.resize(group.size() / which_.turns());
        across += 1;
      }
      for (std::uint32_t& gpu : part) gpu = which_.of_gpu(gpu);
    }
    const bool all_across = across > 0 && across == place.groups.size();
    const bool none_across =
        across == 0 && kept.groups.size() * which_.turns() == place.groups.size();
    crosses_.push_back(all_across);
    kept_.places.push_back(std::move(kept));
    return all_across || none_across;
  }

  // Whether what a GPU does depends on its rank in a group.
  static bool differs_by_rank(const OpShape& shape) {
    const auto* gemm = std::get_if<GemmShape>(&shape);
    return std::holds_alternative<EmbeddingShape>(shape) ||
           std::holds_alternative<RecordedShape>(shape) ||
           (gemm != nullptr && !gemm->m_by_rank.empty());
  }

  bool add_op(const ModelOp& op) {
    ModelOp& kept = kept_.ops[kept_.add(op)];
    if (!crosses_[op.place.value]) return true;
    if (!communicates(op)) return !differs_by_rank(op.shape);
    auto& call = std::get<CommunicationShape>(kept.shape);
    if (kept_.places[op.place].groups.front().size() < 2) return false;  // no ring
    if (call.puts || !call.pair_bytes.empty() || !by_rings(op)) return false;
    call.turns = which_.turns();
    return true;
  }

  // Layers have the same calls.
  bool by_rings(const ModelOp& op) {
    const auto& shape = std::get<CommunicationShape>(op.shape);
    const auto [known, added] =
        by_rings_.try_emplace({op.place.value, shape.op, shape.buffer.count()});
    if (added) known->second = is_by_rings(op, shape);
    return known->second;
  }

  [[nodiscard]] bool is_by_rings(const ModelOp& op, const CommunicationShape& shape) const {
    const std::vector<Group>& groups = graph_.places[op.place].groups;
    const GroupsAtOnce at_once(whole_, groups);
    CollectiveCall call;
    call.op = shape.op;
    call.buffer = shape.buffer;
    call.options = options_of(shape, scenario_.collective);
    call.ranks = groups.front();
    call.at_once = &at_once;
    const RankGroup group = group_of(whole_, call);
    const std::uint32_t part = group.size() / which_.turns();
    if (part % group.per_node != 0 || !goes_in_turns(whole_, call, group)) return false;
    return !is_alone(scenario_) || has_equal_blocks(whole_, call, group);
  }

  // Whether something may be overlapped with an exchange between parts, WG by WG.
  [[nodiscard]] bool is_overlapped() const {
    const std::vector<Fusion> fusions = find_fusions(kept_, whole_.spec.gpu);
    return std::any_of(fusions.begin(), fusions.end(), [&](const Fusion& fusion) {
      return crosses_[kept_.ops[communicating(fusion)].place.value];
    });
  }

  const Scenario& scenario_;
  const Cluster& whole_;
  const ModelGraph& graph_;
  Representatives which_;
  ModelGraph kept_;
  std::vector<bool> crosses_;  // by place
  std::map<std::tuple<std::uint32_t, CollectiveOp, std::int64_t>, bool> by_rings_;
};

int stages(const Scenario& scenario) {
  return is_alone(scenario) ? 1 : scenario.workload.transformer.parallel.pipeline;
}

// All GPUs, each with its own number.
bool is_of_all(const ModelGraph& graph, const Cluster& whole) {
  const std::vector<Group>& groups = graph.places[graph.ops[OpId(0)].place].groups;
  if (groups.size() != 1 || groups.front().size() != whole.gpus()) return false;
  for (std::uint32_t gpu = 0; gpu < whole.gpus(); ++gpu) {
    if (groups.front()[gpu] != gpu) return false;
  }
  return true;
}

bool may_have_copies(const Scenario& scenario, const Cluster& whole, const ModelGraph& graph) {
  const ClusterSpec& spec = scenario.cluster;
  if (scenario.run.repeats != Repeats::once || scenario.run.tie_shuffle != 0) return false;
  if (!spec.scale_out || !spec.stragglers.empty() || !spec.degraded_links.empty()) return false;
  const bool grid = !spec.scale_out->topology->grid().empty();
  if (is_alone(scenario)) {
    // With several NICs, messages of different nodes meet on a ring's links; which of two that come
    // at once goes first, their numbers say, which begin again at one node.
    return is_of_all(graph, whole) && (!grid || spec.nic->per_node == 1);
  }
  // On a ring of nodes, stages would have others between them than those that stand for all.
  return row_of(scenario.workload.kind).model != nullptr && !grid &&
         spec.nodes % stages(scenario) == 0;
}

Cluster cluster_of(const Cluster& whole, const Representatives& which) {
  ClusterSpec spec = whole.spec;
  spec.nodes = static_cast<int>(static_cast<std::uint32_t>(spec.nodes) / which.turns());
  Cluster cluster = build_cluster(spec);
  cluster.own_choices.known_runs = whole.choices().known_runs;
  cluster.whole = &whole;
  cluster.representatives = which;
  return cluster;
}

}  // namespace

std::optional<AlikeCopies> alike_copies(const Scenario& scenario, const Cluster& whole,
                                        const ModelGraph& graph) {
  if (!may_have_copies(scenario, whole, graph)) return std::nullopt;
  const ClusterSpec& spec = whole.spec;
  const auto stage = static_cast<std::uint32_t>(spec.nodes / stages(scenario));
  // On a ring of nodes the way to the next one has to be shorter than the one around.
  for (std::uint32_t kept = spec.scale_out->topology->grid().empty() ? 1 : 3; kept < stage;
       ++kept) {
    if (stage % kept != 0 || !Transport::stands_for_row(whole.network, kept)) continue;
    const Representatives which{.all = stage,
                                .kept = kept,
                                .gpus_per_node = static_cast<std::uint32_t>(spec.gpus_per_node)};
    std::optional<ModelGraph> first = FirstParts(scenario, whole, graph, which).made();
    if (first) return AlikeCopies{cluster_of(whole, which), std::move(*first)};
  }
  return std::nullopt;
}

namespace {

std::uint64_t times(std::uint64_t count, std::uint32_t turns) { return count * turns; }

void multiply(OperatorUse& use, std::uint32_t turns) {
  for (Duration* sum : {&use.sum, &use.wg_time, &use.cu_time, &use.exposed}) {
    *sum = times_saturating(*sum, turns);
  }
  for (Bytes* sum : {&use.sent, &use.hbm}) *sum = times_saturating(*sum, turns);
  for (std::uint64_t* sum : {&use.kernels, &use.wgs, &use.messages}) *sum = times(*sum, turns);
}

void multiply(Ledger& ledger, std::uint32_t turns) {
  for (const auto entry : Ledger::kEntries) {
    (ledger.*entry).asked = times_saturating((ledger.*entry).asked, turns);
    (ledger.*entry).done = times_saturating((ledger.*entry).done, turns);
  }
}

}  // namespace

RunResult of_all_copies(RunResult result, const Cluster& representatives) {
  const Cluster& whole = *representatives.whole;
  const Representatives& which = representatives.representatives;
  std::vector<GpuUse> gpus;
  gpus.reserve(whole.gpus());
  for (std::uint32_t gpu = 0; gpu < whole.gpus(); ++gpu) {
    gpus.push_back(result.gpus[which.of_gpu(gpu)]);
  }
  result.gpus = std::move(gpus);
  const Transport all(whole.network);
  const std::vector<LinkId> by = all.represented_by(Transport(representatives.network), which);
  std::vector<LinkRow> links = rows_of(all, SimTime{});
  for (std::size_t i = 0; i < links.size(); ++i) links[i].use = result.links[by[i].value].use;
  result.links = std::move(links);
  for (OperatorUse& use : result.operators) multiply(use, which.turns());
  for (PartUse& part : result.parts) {
    part.computing = times_saturating(part.computing, which.turns());
    part.exposed = times_saturating(part.exposed, which.turns());
  }
  result.idle = times_saturating(result.idle, which.turns());
  multiply(result.ledger, which.turns());
  return result;
}

}  // namespace weft
