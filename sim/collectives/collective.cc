#include "sim/collectives/collective.h"

#include <algorithm>
#include <utility>

#include "sim/collectives/collective_run.h"
#include "sim/core/assert.h"

namespace weft {

const char* name_of(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_to_all:
      return "all_to_all";
    case CollectiveOp::all_gather:
      return "all_gather";
    case CollectiveOp::reduce_scatter:
      return "reduce_scatter";
    case CollectiveOp::all_reduce:
      return "all_reduce";
    case CollectiveOp::broadcast:
      return "broadcast";
    case CollectiveOp::point_to_point:
      return "point_to_point";
  }
  SIM_ASSERT(false);
}

namespace {

void name_choice(TaskGraph& graph, OperatorId id, const std::string& choice) {
  std::string& name = graph.operators[id].name;
  const std::string how = " (" + choice + ")";
  if (!name.ends_with(how)) name += how;  // several groups may be one operator
}

// The call by all ranks, in the whole cluster.
CollectiveCall by_all(const Cluster& cluster, const CollectiveCall& call) {
  CollectiveCall all = call;
  all.ranks = stood_for(cluster, call.ranks, call.turns);
  all.turns = 1;
  all.after.clear();
  return all;
}

// Planned and divided as the whole ring is; what its first ranks do is added.
std::vector<KernelId> add_first_turn(TaskGraph& graph, const Cluster& cluster,
                                     const CollectiveCall& call) {
  const Cluster& whole = *cluster.whole;
  const CollectiveCall all = by_all(cluster, call);
  RankGroup group = group_of(whole, all);
  const CollectiveChoice choice = choose(whole, all, group);
  SIM_ASSERT(goes_in_turns(whole, all, group));
  name_choice(graph, call.operator_id, text_of(choice));
  const std::vector<Plan> plans = plans_of(whole, call, group, choice.algorithm);
  std::copy(call.ranks.begin(), call.ranks.end(), group.gpus.begin());
  CollectiveRun run(graph, whole, call, std::move(group), choice);
  return run_steps(run, plans);
}

}  // namespace

bool goes_in_turns(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group) {
  if (call.options.executor == CollectiveExecutor::dma || group.one_node) return false;
  if (call.op == CollectiveOp::broadcast || !exists(call.op, Algorithm::ring)) return false;
  const std::vector<CollectiveChoice> choices = possible_choices(cluster, call, group);
  const auto is_ring = [](CollectiveChoice way) { return way.algorithm == Algorithm::ring; };
  return std::all_of(choices.begin(), choices.end(), is_ring) &&
         plan_request(cluster, call, group).grid.size() <= 1;
}

bool has_equal_blocks(const Cluster& cluster, const CollectiveCall& call, const RankGroup& group) {
  const std::vector<CollectiveChoice> choices = possible_choices(cluster, call, group);
  return std::all_of(choices.begin(), choices.end(), [&](CollectiveChoice choice) {
    const PlanCounts plans = count_plans(cluster, call, group, choice.algorithm);
    const Division by = divide(cluster, call, group, plans, choice);
    return call.buffer.count() % (by.channels * by.chunks * plans.blocks) == 0;
  });
}

std::vector<KernelId> add_collective(TaskGraph& graph, const Cluster& cluster,
                                     const CollectiveCall& call) {
  if (call.turns > 1) return add_first_turn(graph, cluster, call);
  RankGroup group = group_of(cluster, call);
  SIM_ASSERT(group.size() >= 2);
  const bool dma = call.options.executor == CollectiveExecutor::dma;
  const CollectiveChoice choice = dma ? CollectiveChoice{} : choose(cluster, call, group);
  name_choice(graph, call.operator_id, dma ? "copy engines" : text_of(choice));
  if (by_switches(choice.algorithm)) {
    CollectiveRun run(graph, cluster, call, std::move(group), choice);
    const bool one_switch = row_of(choice.algorithm).carrier == Carrier::one_switch;
    return one_switch ? run_in_switch(run) : run_in_switch_tree(run);
  }
  if (choice.of_engine) {
    CollectiveRun run(graph, cluster, call, std::move(group), choice);
    return run_loads(run);
  }
  const std::vector<Plan> plans = plans_of(cluster, call, group, choice.algorithm);
  CollectiveRun run(graph, cluster, call, std::move(group), choice);
  if (dma) return run_copies(run, plans.front());
  if (has_peer_parts(cluster, call, run.group())) return run_peer_parts(run, plans.front());
  if (is_exchange(call.op, choice.algorithm)) return run_exchange(run, plans.front());
  return run_steps(run, plans);
}

namespace {

CollectiveCounts count_by(const Cluster& cluster, const CollectiveCall& call,
                          const RankGroup& group, CollectiveChoice choice) {
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  const bool dma = call.options.executor == CollectiveExecutor::dma;
  const Carrier carrier = row_of(choice.algorithm).carrier;
  if (carrier == Carrier::one_switch) return count_in_switch(cluster, call, group.size(), choice);
  if (carrier == Carrier::several_switches) return count_in_switch_tree(cluster, call, group);
  if (choice.of_engine) return count_loads(cluster, call, group.size(), choice.algorithm);
  const PlanCounts plans = count_plans(cluster, call, group, choice.algorithm);
  if (dma) return count_copies(cluster, call, plans.transfers);
  const std::int64_t n = group.size();
  const double sent = plans.sent * real(call.buffer.count()) + 1;
  if (is_exchange(call.op, choice.algorithm)) {
    const bool one_peer = call.op == CollectiveOp::point_to_point;
    const std::int64_t each = exchanged_bytes(call, n, choice.algorithm);
    if (has_peer_parts(cluster, call, group)) return count_peer_parts(cluster, call, n, sent);
    const std::int64_t channels = channels_of(cluster, call);
    const Pieces cut =
        cut_for_peer(each, one_peer ? 1 : n - 1, channels, cluster.spec.gpu.collective.chunk);
    const double pieces = real(cut.pieces);
    const std::int64_t sums = cut.pieces * parts_of_sum(channels, cut, cut.size);
    return {
        .items = real(plans.transfers) * pieces + real(reduces(call.op) ? n * sums : 0) + real(n),
        .sends = real(plans.transfers) * pieces,
        .bytes = sent};
  }
  const Division division = divide(cluster, call, group, plans, choice);
  const double times = division.channels * real(division.chunks);
  const double sends = real(plans.transfers) * times;
  // Summed over all ranks, what is sent and has not arrived is no more than what is sent and has
  // not been taken in: each channel begins a turn when it has taken in all of the one before.
  const double ahead = real(n * division.slices) * division.channels;
  // Programs of ranks that have less to do are padded with items that do nothing.
  return {.items = real(plans.busiest_rank * n) * times,
          .sends = sends,
          .bytes = sent,
          .at_rest = plans.one_ahead ? std::max(0.0, sends - ahead) : 0};
}

}  // namespace

CollectiveCounts count_collective(const Cluster& cluster, const CollectiveCall& call) {
  if (call.turns > 1) {
    CollectiveCounts counts = count_collective(*cluster.whole, by_all(cluster, call));
    for (double* count : {&counts.items, &counts.sends, &counts.bytes, &counts.at_rest}) {
      *count /= call.turns;
    }
    return counts;
  }
  const RankGroup group = group_of(cluster, call);
  if (call.options.executor == CollectiveExecutor::dma) return count_by(cluster, call, group, {});
  CollectiveCounts most;
  for (const CollectiveChoice choice : possible_choices(cluster, call, group)) {
    most = most_of(most, count_by(cluster, call, group, choice));
  }
  return most;
}

CollectiveCounts most_of(const CollectiveCounts& a, const CollectiveCounts& b) {
  const double sends = std::max(a.sends, b.sends);
  return {.items = std::max(a.items, b.items),
          .sends = sends,
          .bytes = std::max(a.bytes, b.bytes),
          .at_rest = sends - std::max(a.sends - a.at_rest, b.sends - b.at_rest)};
}

}  // namespace weft
