// Direct: each rank sends to all others, the peers in spreading order, so that all links and all
// directions of a torus are in use at any time.
#include <utility>

#include "sim/core/assert.h"
#include "sim/plans/collective_plan.h"
#include "sim/plans/plan_parts.h"
#include "sim/plans/plan_ways.h"

namespace weft {
namespace {

// Calls send({i, peer}) for all pairs of positions: everyone's first peer, everyone's second ...
template <class Send>
void for_each_pair(std::size_t n, std::size_t first, Send send) {
  if (n < 2) return;
  const std::size_t stride = spreading_stride(static_cast<std::uint32_t>(n));
  for (std::size_t turn = 0; turn + 1 < n; ++turn) {
    const std::size_t step = (first + turn) % (n - 1) + 1;
    for (std::size_t i = 0; i < n; ++i) {
      send(Hop{.from = static_cast<std::uint32_t>(i),
               .to = static_cast<std::uint32_t>((i + step * stride) % n)});
    }
  }
}

void add_pair(Plan& plan, Hop pair) {
  add(plan, pair, {.first = pair.from}, Arrival::replaces, Source::own);
}

}  // namespace

void add_direct_reduce_scatter(Plan& plan, const Group& group) {
  for_each_pair(group.size(), plan.first_peer, [&](Hop at) {
    const Member& peer = group[at.to];
    add(plan, {.from = group[at.from].rank, .to = peer.rank}, peer.part, Arrival::adds);
  });
}

void add_direct_all_gather(Plan& plan, const Group& group) {
  for_each_pair(group.size(), plan.first_peer, [&](Hop at) {
    const Member& self = group[at.from];
    add(plan, {.from = self.rank, .to = group[at.to].rank}, self.part);
  });
}

Plan all_reduce_one_shot(std::uint32_t ranks) {
  Plan plan{.collective = Collective::all_reduce, .ranks = ranks};
  begin_phase(plan);
  for_each_pair(ranks, 0, [&](Hop pair) { add(plan, pair, {}, Arrival::adds, Source::own); });
  return plan;
}

Plan all_to_all(std::uint32_t ranks) {
  SIM_ASSERT(ranks > 0);
  Plan plan{.collective = Collective::all_to_all, .ranks = ranks, .blocks = ranks};
  begin_phase(plan);
  plan.transfers.reserve(std::size_t{ranks} * (ranks - 1));
  for_each_pair(ranks, 0, [&](Hop pair) { add_pair(plan, pair); });
  return plan;
}

Plan all_to_all_uneven(std::uint32_t ranks, std::vector<std::int64_t> pair_bytes) {
  SIM_ASSERT(pair_bytes.size() == std::size_t{ranks} * ranks);
  Plan plan{.collective = Collective::all_to_all,
            .ranks = ranks,
            .blocks = ranks,
            .pair_bytes = std::move(pair_bytes)};
  begin_phase(plan);
  for_each_pair(ranks, 0, [&](Hop pair) {
    const std::int64_t size = plan.pair_bytes[std::size_t{pair.from} * ranks + pair.to];
    SIM_ASSERT(size >= 0);
    if (size > 0) add_pair(plan, pair);
  });
  return plan;
}

Plan broadcast_direct(std::uint32_t ranks, std::uint32_t root) {
  SIM_ASSERT(root < ranks);
  Plan plan{.collective = Collective::broadcast, .ranks = ranks, .root = root};
  begin_phase(plan);
  for (std::uint64_t step = 1; step < ranks; ++step) {
    const std::uint64_t peer = (root + step * spreading_stride(ranks)) % ranks;
    add(plan, {.from = root, .to = static_cast<std::uint32_t>(peer)}, {});
  }
  return plan;
}

Plan point_to_point(const PointToPoint& pair) {
  SIM_ASSERT(pair.from < pair.ranks && pair.to < pair.ranks);
  Plan plan{.collective = Collective::point_to_point,
            .ranks = pair.ranks,
            .root = pair.from,
            .target = pair.to};
  begin_phase(plan);
  if (pair.from != pair.to) add(plan, {.from = pair.from, .to = pair.to}, {});
  return plan;
}

namespace {

std::vector<Plan> plans_of_direct(const PlanRequest& request) {
  const std::uint32_t n = request.ranks;
  std::vector<Plan> plans;
  switch (request.op) {
    case CollectiveOp::all_to_all:
      plans.push_back(
          request.pair_bytes.empty()
              ? all_to_all(n)
              : all_to_all_uneven(n, {request.pair_bytes.begin(), request.pair_bytes.end()}));
      break;
    case CollectiveOp::broadcast:
      plans.push_back(broadcast_direct(n, request.root));
      break;
    case CollectiveOp::point_to_point:
      plans.push_back(point_to_point({.ranks = n, .from = request.root, .to = request.target}));
      break;
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter:
      plans.push_back(scheme_plan(request.op, Scheme::direct, identity_order(n)));
      break;
    case CollectiveOp::all_reduce:
      for (std::uint32_t i = 0; i < direct_plans(request); ++i) {
        plans.push_back(all_reduce(Scheme::direct, identity_order(n), i));
      }
      break;
  }
  return plans;
}

PlanCounts counts_of_direct(const PlanRequest& request) {
  const std::int64_t n = request.ranks;
  if (request.op == CollectiveOp::broadcast || request.op == CollectiveOp::point_to_point) {
    const bool all = request.op == CollectiveOp::broadcast;
    const std::int64_t peers = all ? n - 1 : 1;
    return {.transfers = peers,
            .busiest_rank = peers,
            .sent = static_cast<double>(peers),
            .flow = all ? Flow::pipeline : Flow::chunk_by_chunk};
  }
  const std::int64_t phases = request.op == CollectiveOp::all_reduce ? 2 : 1;
  const std::int64_t outside = n - request.per_node;
  return {.plans = phases == 2 ? direct_plans(request) : 1,
          .blocks = n,
          .transfers = phases * n * (n - 1),
          .busiest_rank = phases * (n - 1) + 1,
          .steps = phases,
          .sent = static_cast<double>(phases * (n - 1)),
          .posted = static_cast<double>(phases * outside)};
}

// Every rank to every other: 1/n of the buffer or, if `whole`, all of it.
Loads loads_of_pairs(const PlanRequest& request, bool whole) {
  const double n = request.ranks;
  const double l = request.per_node;
  const double each = whole ? 1 : 1 / n;
  Loads loads;
  loads.inside = each * (request.link_of_each_pair ? 1 : l - 1);
  if (!request.one_node()) loads.between = each * (n - l);
  (request.one_node() ? loads.steps_inside : loads.steps_between) = 1;
  loads.channels = each * (n - 1);
  return loads;
}

Loads loads_of_direct(const PlanRequest& request) {
  const bool one_node = request.one_node();
  if (request.op == CollectiveOp::point_to_point) {
    return {.inside = 1,
            .between = one_node ? 0.0 : 1.0,
            .channels = 1,
            .steps_inside = one_node ? 1.0 : 0.0,
            .steps_between = one_node ? 0.0 : 1.0};
  }
  const double n = request.ranks;
  Loads loads = loads_of_pairs(request, request.op == CollectiveOp::broadcast);
  const Loads again = loads;
  if (request.op == CollectiveOp::reduce_scatter) loads.channels *= 2;
  if (request.op == CollectiveOp::all_reduce) {
    loads += again;  // the first send of the second phase receives what has arrived
    loads.channels += (n - 2) / n;
    loads.only_in = (n - 2) / n;
  }
  return loads;
}

std::vector<Plan> plans_of_one_shot(const PlanRequest& request) {
  return {all_reduce_one_shot(request.ranks)};
}

PlanCounts counts_of_one_shot(const PlanRequest& request) {
  const std::int64_t n = request.ranks;
  return {.transfers = n * (n - 1), .busiest_rank = n, .sent = static_cast<double>(n * (n - 1))};
}

Loads loads_of_one_shot(const PlanRequest& request) {
  Loads loads = loads_of_pairs(request, true);
  loads.channels *= 2;
  return loads;
}

}  // namespace

// Libraries have kernels of all pairs only within one node.
constinit const AlgorithmSpec algorithms::direct = {
    .one_step = {CollectiveOp::all_to_all, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
                 CollectiveOp::broadcast, CollectiveOp::point_to_point},
    .lands_in_place = true,
    .ahead = Ahead::one,
    .in_libraries = [](const PlanRequest& request) { return request.one_node(); },
    .plans = plans_of_direct,
    .counts = counts_of_direct,
    .loads = loads_of_direct};

constinit const AlgorithmSpec algorithms::one_shot = {.one_step = {CollectiveOp::all_reduce},
                                                      .sends_whole = true,
                                                      .ahead = Ahead::one,
                                                      .plans = plans_of_one_shot,
                                                      .counts = counts_of_one_shot,
                                                      .loads = loads_of_one_shot};

}  // namespace weft
