#include "sim/collectives/collective_choice.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "sim/collectives/collective_trials.h"
#include "sim/core/assert.h"
#include "sim/scenario/names.h"

namespace weft {
namespace {

// The library's own estimate; nothing where it has no such way, or between nodes.
std::optional<double> reckoned_time(const Cluster& cluster, const CollectiveCall& call,
                                    const RankGroup& group, CollectiveChoice choice) {
  const std::optional<CostTable>& costs = cluster.spec.gpu.collective.costs;
  if (!costs || !group.one_node) return std::nullopt;
  const CostSpec& cost = costs->at(static_cast<std::size_t>(choice.algorithm))
                             .at(static_cast<std::size_t>(choice.protocol));
  if (cost.bus.count() == 0) return std::nullopt;
  const CountedByLibrary counted = spec_of(choice.algorithm).by_library(call.op, group.size());
  return to_seconds(cost.startup) + counted.steps * to_seconds(cost.step) +
         counted.carried * static_cast<double>(call.buffer.count()) / to_bytes_per_second(cost.bus);
}

// An all-to-all is direct. Its small parts go by `ll` where the library does so.
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

// Whether the library has this way, which is possible.
bool library_has(const CollectiveSpec& library, const PlanRequest& request,
                 CollectiveChoice choice) {
  const auto has = [](const auto& list, auto wanted) {
    return std::find(list.begin(), list.end(), wanted) != list.end();
  };
  const AlgorithmSpec& spec = spec_of(choice.algorithm);
  if (!has(library.algorithms, choice.algorithm) || !spec.in_libraries(request)) return false;
  if (by_switches(choice.algorithm)) return true;
  if (request.one_node() && !has(library.protocols_in_node, choice.protocol)) return false;
  return spec.flags_in_libraries || choice.protocol == Protocol::simple;
}

// A model has collectives of several kinds and groups, not all of which can be done by the
// algorithm asked for: the library chooses how to do those.
AskedAlgorithm asked_for(const Cluster& cluster, const CollectiveCall& call,
                         const RankGroup& group) {
  const AskedAlgorithm& asked = call.options.algorithm;
  const bool possible = !asked.named || is_possible(cluster, call, group, *asked.named);
  if (possible && !asked.of_engine) return asked;
  return CollectiveOptions{}.algorithm;
}

// The engine's row for a group of so many GPUs: it has no kernels for other numbers.
const EngineRow* row_of_engine(const EngineSpec& engine, std::int64_t gpus) {
  const auto row = std::find_if(engine.rows.begin(), engine.rows.end(),
                                [&](const EngineRow& one) { return gpus == one.gpus; });
  return row == engine.rows.end() ? nullptr : &*row;
}

// The engine's kernel for this call; nothing where it leaves it to the library.
std::optional<CollectiveChoice> engine_choice(const Cluster& cluster, const CollectiveCall& call,
                                              const RankGroup& group) {
  const AskedAlgorithm& asked = call.options.algorithm;
  const std::optional<EngineSpec>& engine = cluster.spec.gpu.collective.engine;
  if (!asked.of_engine || !engine || call.op != CollectiveOp::all_reduce || !group.one_node) {
    return std::nullopt;
  }
  const auto by = [](Algorithm algorithm) {
    return CollectiveChoice{
        .algorithm = algorithm, .protocol = Protocol::simple, .of_engine = true};
  };
  if (asked.named) return by(*asked.named);
  const EngineRow* row = row_of_engine(*engine, group.size());
  if (row == nullptr) return std::nullopt;
  if (call.buffer < row->one_shot_below) return by(Algorithm::one_shot);
  if (call.buffer < row->two_shot_below) return by(Algorithm::direct);
  const bool by_switch = engine->in_switch && call.buffer < row->in_switch_below &&
                         is_possible(cluster, call, group, Algorithm::in_switch);
  return by_switch ? std::optional(by(Algorithm::in_switch)) : std::nullopt;
}

std::vector<CollectiveChoice> ways(const Cluster& cluster, const CollectiveCall& call,
                                   const RankGroup& group) {
  const CollectiveOptions& options = call.options;
  const AskedAlgorithm asked = asked_for(cluster, call, group);
  const PlanRequest request = plan_request(cluster, call, group);
  const auto is_tried = [&](const AlgorithmRow& row) {
    if (asked.named) return *asked.named == row.algorithm;
    return row.collectives.has(call.op) && row.spec->possible(request) &&
           row.spec->worth_trying(request);
  };
  std::vector<CollectiveChoice> all;
  for (const AlgorithmRow& row : kAlgorithmRows) {
    if (!is_tried(row)) continue;
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      if (options.protocol && *options.protocol != protocol) continue;
      if (by_switches(row.algorithm) && protocol != Protocol::simple) continue;
      const CollectiveChoice choice{.algorithm = row.algorithm, .protocol = protocol};
      const CollectiveSpec& library = cluster.spec.gpu.collective;
      if (asked.of_library && !library_has(library, request, choice)) continue;
      all.push_back(choice);
    }
  }
  if (!all.empty()) return all;
  // A library that has nothing for this: every library is assumed to have a ring.
  CollectiveCall ring = call;
  ring.options.algorithm = {.named = Algorithm::ring, .of_library = false, .of_engine = false};
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

// All-to-alls and point to point: libraries do them directly, and there may be no other way to try.
bool is_direct(const CollectiveCall& call) {
  if (call.op != CollectiveOp::all_to_all && call.op != CollectiveOp::point_to_point) return false;
  const AskedAlgorithm& asked = call.options.algorithm;
  const auto ways =
      std::count_if(kAlgorithmRows.begin(), kAlgorithmRows.end(),
                    [&](const AlgorithmRow& row) { return row.collectives.has(call.op); });
  return ways == 1 || asked.of_library || asked.named == Algorithm::direct;
}

// The choices of which the fastest has to be found; a single one where that is already decided.
std::vector<CollectiveChoice> candidates(const Cluster& cluster, const CollectiveCall& call,
                                         const RankGroup& group) {
  if (const auto engine = engine_choice(cluster, call, group)) return {*engine};
  if (is_direct(call)) return {exchange_choice(cluster, call, group)};
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
  if (choice.of_engine) {
    const bool two_shot = choice.algorithm == Algorithm::direct;
    return std::string("engine, ") +
           (two_shot ? "two_shot" : std::string(names::word(names::kAlgorithms, choice.algorithm)));
  }
  return std::string(names::word(names::kAlgorithms, choice.algorithm)) + ", " +
         std::string(names::word(names::kProtocolWords, choice.protocol));
}

}  // namespace weft
