// Rings: each rank sends to the next.
//
// In a reduce-scatter the part of position k starts from k + 1 and is added to at every stop until
// it reaches k, after n - 1 steps. In an all-gather it starts from k.
#include <algorithm>

#include "sim/core/assert.h"
#include "sim/plans/collective_plan.h"
#include "sim/plans/plan_parts.h"
#include "sim/plans/plan_ways.h"

namespace weft {
namespace {

// In step s the part of position i + offset - s leaves position i.
void add_ring(Plan& plan, const Group& group, Arrival arrival, std::size_t offset) {
  const std::size_t n = group.size();
  for (std::size_t step = 0; step + 1 < n; ++step) {
    for (std::size_t i = 0; i < n; ++i) {
      if (group[i].rank >= plan.ranks) continue;  // another stands for it
      add(plan, {.from = group[i].rank, .to = group[(i + 1) % n].rank},
          group[(i + offset + n - step) % n].part, arrival);
    }
  }
}

}  // namespace

void add_ring_reduce_scatter(Plan& plan, const Group& group) {
  add_ring(plan, group, Arrival::adds, group.size() - 1);
}

void add_ring_all_gather(Plan& plan, const Group& group) {
  add_ring(plan, group, Arrival::replaces, 0);
}

Plan broadcast_ring(const RankOrder& order, std::uint32_t root) {
  Plan plan{.collective = Collective::broadcast,
            .ranks = static_cast<std::uint32_t>(order.size()),
            .root = root};
  begin_phase(plan);
  const auto at = std::find(order.begin(), order.end(), root);
  SIM_ASSERT(at != order.end());
  const auto start = static_cast<std::size_t>(at - order.begin());
  const std::size_t n = order.size();
  for (std::size_t i = start; i + 1 < start + n; ++i) {
    add(plan, {.from = order[i % n], .to = order[(i + 1) % n]}, {});
  }
  return plan;
}

namespace {

// The path through a whole grid and, because its links have two directions, back.
std::vector<RankOrder> both_ways(const std::vector<int>& dims) {
  const RankOrder there = snake_order(dims);
  const RankOrder back(there.rbegin(), there.rend());
  return {there, back};
}

// The rings that channels take in turn.
std::vector<RankOrder> ring_orders(const PlanRequest& request) {
  if (!request.grid.empty()) return both_ways(request.grid);
  const std::uint32_t n = request.ranks;
  const std::uint32_t l = request.per_node;
  if (request.one_node()) return rings(n, wiring_of(request));
  if (l == 1) return {identity_order(n)};
  // Each ring leaves the nodes by a different NIC.
  std::vector<RankOrder> orders;
  for (const RankOrder& way : some_ways(request, std::min(l, request.nics))) {
    RankOrder& order = orders.emplace_back();
    for (std::uint32_t rank = 0; rank < n; ++rank) order.push_back(rank / l * l + way[rank % l]);
  }
  return orders;
}

// What the first ranks of a ring do.
Plan first_turn(CollectiveOp op, const RankOrder& order, std::uint32_t ranks) {
  Plan plan{.collective = op, .ranks = ranks, .blocks = static_cast<std::uint32_t>(order.size())};
  Group group;
  // As scheme_plan() gives blocks to ranks; but a later rank's has a higher number, whichever way
  // the ring goes (place_of_arrival).
  const bool back = order.front() > order.back();
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    const std::uint32_t block = op == CollectiveOp::all_reduce && !back ? i : order[i];
    group.push_back({.rank = order[i], .part = {.first = block}});
  }
  if (op != CollectiveOp::all_gather) {
    begin_phase(plan);
    add_ring_reduce_scatter(plan, group);
  }
  if (op != CollectiveOp::reduce_scatter) {
    begin_phase(plan);
    add_ring_all_gather(plan, group);
  }
  return plan;
}

std::vector<Plan> plans_of_ring(const PlanRequest& request) {
  std::vector<Plan> plans;
  for (const RankOrder& order : ring_orders(request)) {
    if (request.planned > 0) {
      plans.push_back(first_turn(request.op, order, request.planned));
    } else if (request.op == CollectiveOp::broadcast) {
      plans.push_back(broadcast_ring(order, request.root));
    } else {
      plans.push_back(scheme_plan(request.op, Scheme::ring, order));
    }
  }
  return plans;
}

PlanCounts counts_of_ring(const PlanRequest& request) {
  const std::int64_t n = request.ranks;
  const bool from_root = request.op == CollectiveOp::broadcast;
  const std::int64_t phases = request.op == CollectiveOp::all_reduce ? 2 : 1;
  PlanCounts counts{.plans = static_cast<std::int64_t>(ring_orders(request).size()),
                    .blocks = from_root ? 1 : n,
                    .transfers = from_root ? n - 1 : phases * n * (n - 1),
                    .busiest_rank = from_root ? 2 : phases * (n - 1) + 1,
                    .steps = phases * (n - 1),
                    .sent = static_cast<double>(phases * (n - 1)),
                    .flow = from_root ? Flow::pipeline : Flow::chunk_by_chunk,
                    .one_ahead = !from_root};
  if (!request.one_node()) {  // each leaves the nodes by a different GPU
    counts.posted = static_cast<double>(counts.steps) / static_cast<double>(counts.plans);
  }
  return counts;
}

Loads loads_of_ring(const PlanRequest& request) {
  const double n = request.ranks;
  const auto rings = static_cast<double>(ring_orders(request).size());
  Loads loads;
  loads.inside = (n - 1) / n / (request.one_node() || request.link_of_each_pair ? rings : 1);
  if (!request.one_node()) {
    loads.between = (n - 1) / n / rings;
    loads.steps_between = (n - 1) * request.nodes() / n;
    // Only the rank by which a ring leaves a node.
    loads.senders = std::min(1.0, rings / request.per_node);
  }
  loads.steps_inside = n - 1 - loads.steps_between;
  loads.channels = 1;  // the last arrival is received as well
  loads.only_in = 1 / n;
  if (request.op == CollectiveOp::broadcast) return times(loads, n / (n - 1));
  if (request.op != CollectiveOp::all_reduce) return loads;
  loads = times(loads, 2);
  loads.channels = (2 * n - 1) / n;
  return loads;
}

}  // namespace

constinit const AlgorithmSpec algorithms::ring = {.slices = true,
                                                  .ll_by_block = true,
                                                  .plans = plans_of_ring,
                                                  .counts = counts_of_ring,
                                                  .loads = loads_of_ring};

}  // namespace weft
