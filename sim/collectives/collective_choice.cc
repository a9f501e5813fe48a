#include "sim/collectives/collective_choice.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "sim/collectives/collective_trials.h"
#include "sim/core/assert.h"
#include "sim/scenario/names.h"

namespace weft {
namespace {

// Of the busiest rank, where 1 is the buffer, and over how many steps: as the library counts.
struct Counted {
  double carried = 0;
  double steps = 0;
};
Counted counted_by_library(CollectiveOp op, Algorithm algorithm, double n) {
  const bool all = op == CollectiveOp::all_reduce;
  if (algorithm == Algorithm::tree) return {.carried = 2, .steps = 2 * (n - 1)};  // a chain
  if (algorithm == Algorithm::in_switch) return {.carried = all ? 1 : n / (n - 1), .steps = 1};
  if (op == CollectiveOp::broadcast) return {.carried = 1, .steps = n};
  return {.carried = (all ? 2 : 1) * (n - 1) / n, .steps = (all ? 2 : 1) * (n - 1)};
}

// What the library itself reckons with; nothing where it has no such way, or between nodes.
std::optional<double> reckoned_time(const Cluster& cluster, const CollectiveCall& call,
                                    const RankGroup& group, CollectiveChoice choice) {
  const std::optional<CostTable>& costs = cluster.spec.gpu.collective.costs;
  if (!costs || !group.one_node) return std::nullopt;
  const CostSpec& cost = costs->at(static_cast<std::size_t>(choice.algorithm))
                             .at(static_cast<std::size_t>(choice.protocol));
  if (cost.bus.count() == 0) return std::nullopt;
  const Counted counted = counted_by_library(call.op, choice.algorithm, group.size());
  return to_seconds(cost.startup) + counted.steps * to_seconds(cost.step) +
         counted.carried * static_cast<double>(call.buffer.count()) / to_bytes_per_second(cost.bus);
}

// An all-to-all is direct. Its small parts go with flags of their own, where the library says so.
CollectiveChoice exchange_choice(const Cluster& cluster, const CollectiveCall& call,
                                 const RankGroup& group) {
  CollectiveChoice choice{.algorithm = Algorithm::direct, .protocol = Protocol::simple};
  if (has_peer_parts(cluster, call, group)) {
    const std::int64_t to_peer = exchanged_bytes(call, group.size(), Algorithm::direct);
    const std::int64_t up_to = cluster.spec.gpu.collective.peer_parts->ll_up_to.count();
    if (to_peer <= up_to * peer_channels(cluster, call)) choice.protocol = Protocol::ll;
  }
  choice.protocol = call.options.protocol.value_or(choice.protocol);
  return choice;
}

// Of the ways that there are, those that the library has.
bool library_has(const Cluster& cluster, const RankGroup& group, CollectiveChoice choice) {
  const std::vector<Algorithm>& has = cluster.spec.gpu.collective.algorithms;
  if (std::find(has.begin(), has.end(), choice.algorithm) == has.end()) return false;
  // NCCL has NVLS from three GPUs on (its nvls.cc): between two the switch saves nothing.
  if (choice.algorithm == Algorithm::in_switch) return group.size() > 2;
  if (choice.algorithm == Algorithm::in_switch_tree) return group.per_node > 2;
  const std::vector<Protocol>& in_node = cluster.spec.gpu.collective.protocols_in_node;
  if (group.one_node && std::find(in_node.begin(), in_node.end(), choice.protocol) == in_node.end())
    return false;
  // Kernels of all pairs are of one node.
  if (choice.algorithm == Algorithm::direct) return group.one_node;
  // Libraries' algorithms of two levels are for nodes of several GPUs, without flags in the data.
  return choice.algorithm != Algorithm::hierarchical ||
         (group.per_node > 1 && choice.protocol == Protocol::simple);
}

bool can(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group,
         CollectiveChoice choice) {
  if (!exists(call.op, choice.algorithm)) return false;
  if (choice.algorithm == Algorithm::in_switch) return switch_reduces(cluster, group);
  if (choice.algorithm == Algorithm::in_switch_tree) return switches_reduce(cluster, group);
  return choice.algorithm != Algorithm::hierarchical || group.nodes() > 1;  // else it is direct
}

// A model has collectives of several kinds and groups, not all of which can be done as is asked
// for: the library chooses how to do those.
AskedAlgorithm asked_for(const Cluster& cluster, const CollectiveCall& call,
                         const RankGroup& group) {
  const AskedAlgorithm& asked = call.options.algorithm;
  if (!asked.named) return asked;
  const bool in_switch = *asked.named == Algorithm::in_switch;
  const bool in_switches = *asked.named == Algorithm::in_switch_tree;
  const bool can = exists(call.op, *asked.named) &&
                   (!in_switch || switch_reduces(cluster, group)) &&
                   (!in_switches || switches_reduce(cluster, group));
  return can ? asked : AskedAlgorithm{.named = std::nullopt, .of_library = true};
}

std::vector<CollectiveChoice> ways(const Cluster& cluster, const CollectiveCall& call,
                                   const RankGroup& group) {
  const CollectiveOptions& options = call.options;
  const AskedAlgorithm asked = asked_for(cluster, call, group);
  std::vector<CollectiveChoice> all;
  for (const auto& [name, algorithm, meaning] : names::kAlgorithms) {
    if (asked.named && *asked.named != algorithm) continue;
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      if (options.protocol && *options.protocol != protocol) continue;
      const CollectiveChoice choice{.algorithm = algorithm, .protocol = protocol};
      const bool by_switch =
          algorithm == Algorithm::in_switch || algorithm == Algorithm::in_switch_tree;
      if (by_switch && protocol != Protocol::simple) continue;
      if (!asked.named && !can(cluster, call, group, choice)) continue;
      if (asked.of_library && !library_has(cluster, group, choice)) continue;
      all.push_back(choice);
    }
  }
  if (!all.empty()) return all;
  // Of a library that has nothing for this: a ring can be had of any.
  CollectiveCall ring = call;
  ring.options.algorithm = {.named = Algorithm::ring, .of_library = false};
  return ways(cluster, ring, group);
}

// The library's own choice, where it has a table for it.
std::optional<CollectiveChoice> by_table(const Cluster& cluster, const CollectiveCall& call,
                                         const RankGroup& group,
                                         const std::vector<CollectiveChoice>& all) {
  std::optional<CollectiveChoice> best;
  double least = std::numeric_limits<double>::infinity();
  for (const CollectiveChoice choice : all) {
    const std::optional<double> time = reckoned_time(cluster, call, group, choice);
    if (!time || *time >= least) continue;
    least = *time;
    best = choice;
  }
  return best;
}

// The library's own choice for an all-reduce between nodes.
CollectiveChoice by_row(const BetweenNodesSpec& row, const CollectiveCall& call) {
  const bool by_switch = call.buffer > row.tree_up_to && call.buffer <= row.in_switch_tree_up_to;
  if (by_switch) return {.algorithm = Algorithm::in_switch_tree, .protocol = Protocol::simple};
  const Protocol small = call.buffer <= row.ll_up_to ? Protocol::ll : Protocol::ll128;
  return {.algorithm = call.buffer <= row.tree_up_to ? Algorithm::tree : Algorithm::ring,
          .protocol = call.buffer <= row.ll128_up_to ? small : Protocol::simple};
}

// Those from which the fastest has to be found; one where that is decided.
std::vector<CollectiveChoice> candidates(const Cluster& cluster, const CollectiveCall& call,
                                         const RankGroup& group) {
  if (call.op == CollectiveOp::all_to_all || call.op == CollectiveOp::point_to_point) {
    return {exchange_choice(cluster, call, group)};
  }
  std::vector<CollectiveChoice> all = ways(cluster, call, group);
  if (all.size() > 1 && asked_for(cluster, call, group).of_library) {
    if (const auto choice = by_table(cluster, call, group, all)) return {*choice};
    if (const BetweenNodesSpec* row = row_between_nodes(cluster, call, group)) {
      CollectiveChoice choice = by_row(*row, call);
      choice.protocol = call.options.protocol.value_or(choice.protocol);
      if (std::find(all.begin(), all.end(), choice) != all.end()) return {choice};
    }
  }
  return all;
}

}  // namespace

const BetweenNodesSpec* row_between_nodes(const Cluster& cluster, const CollectiveCall& call,
                                          const RankGroup& group) {
  const AskedAlgorithm asked = asked_for(cluster, call, group);
  if (asked.named || !asked.of_library || call.op != CollectiveOp::all_reduce) return nullptr;
  const bool whole_nodes = group.per_node == static_cast<std::uint32_t>(cluster.spec.gpus_per_node);
  if (group.one_node || !whole_nodes) return nullptr;
  const BetweenNodesSpec* of_most = nullptr;
  for (const BetweenNodesSpec& row : cluster.spec.gpu.collective.between_nodes) {
    if (static_cast<std::uint32_t>(row.nodes) <= group.nodes()) of_most = &row;
  }
  return of_most;
}

CollectiveChoice choose(const Cluster& cluster, const CollectiveCall& call,
                        const RankGroup& group) {
  const std::vector<CollectiveChoice> all = candidates(cluster, call, group);
  return all.size() == 1 ? all.front() : fastest(cluster, call, group, all);
}

std::vector<CollectiveChoice> possible_choices(const Cluster& cluster, const CollectiveCall& call,
                                               const RankGroup& group) {
  std::vector<CollectiveChoice> all = candidates(cluster, call, group);
  if (all.size() == 1) return all;
  std::vector<double> times;
  times.reserve(all.size());
  for (const CollectiveChoice way : all) {
    times.push_back(predicted_time(cluster, call, group, way));
  }
  const double most = kDoubt * *std::min_element(times.begin(), times.end());
  std::vector<CollectiveChoice> possible;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (times[i] <= most) possible.push_back(all[i]);
  }
  return possible;
}

std::string text_of(CollectiveChoice choice) {
  return std::string(names::word(names::kAlgorithms, choice.algorithm)) + ", " +
         std::string(names::word(names::kProtocolWords, choice.protocol));
}

}  // namespace weft
