// Hierarchical all-reduce: only 1/ranks_per_node of a rank's buffer crosses between the nodes.
#include "sim/core/assert.h"
#include "sim/plans/collective_plan.h"
#include "sim/plans/plan_parts.h"
#include "sim/plans/plan_ways.h"

namespace weft {

Plan all_reduce_hierarchical(const Hierarchy& hierarchy) {
  const std::uint32_t local = hierarchy.ranks_per_node;
  SIM_ASSERT(local > 0 && hierarchy.ranks > 0 && hierarchy.ranks % local == 0);
  const std::uint32_t nodes = hierarchy.ranks / local;
  const std::uint32_t part = blocks_to_share(hierarchy.between, nodes);

  std::vector<Group> inside(nodes);
  std::vector<SharedBlocks> between(local);
  for (std::uint32_t i = 0; i < local; ++i) between[i].first_block = i * part;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (std::uint32_t i = 0; i < local; ++i) {
      const std::uint32_t rank = node * local + i;
      inside[node].push_back({.rank = rank, .part = {.first = i * part, .blocks = part}});
      between[i].ranks.push_back(rank);
    }
  }

  Plan plan{.collective = Collective::all_reduce,
            .ranks = hierarchy.ranks,
            .blocks = local * part,
            .first_peer = hierarchy.first_peer};
  begin_phase(plan);
  for (const Group& group : inside) add_reduce_scatter(plan, hierarchy.inside, group);
  begin_phase(plan);
  for (const SharedBlocks& shared : between) add_reduce_half(plan, hierarchy.between, shared);
  begin_phase(plan);
  for (const SharedBlocks& shared : between) add_gather_half(plan, hierarchy.between, shared);
  begin_phase(plan);
  for (const Group& group : inside) add_all_gather(plan, hierarchy.inside, group);
  return plan;
}

namespace {

std::vector<Plan> plans_of_hierarchy(const PlanRequest& request) {
  std::vector<Plan> plans;
  for (std::uint32_t i = 0; i < direct_plans(request); ++i) {
    plans.push_back(
        all_reduce_hierarchical({.ranks = request.ranks,
                                 .ranks_per_node = request.per_node,
                                 .inside = request.in_a_grid ? Scheme::ring : Scheme::direct,
                                 .between = Scheme::ring,
                                 .first_peer = i}));
  }
  return plans;
}

PlanCounts counts_of_hierarchy(const PlanRequest& request) {
  const std::int64_t l = request.per_node;
  const std::int64_t m = request.nodes();
  return {.plans = direct_plans(request),
          .blocks = request.ranks,
          .transfers = 2 * m * l * (l - 1) + 2 * l * m * (m - 1),
          .busiest_rank = 2 * (l - 1) + 2 * (m - 1) + 1,
          .steps = 2 * (m - 1) + 2,
          .sent = static_cast<double>(2 * m * (l - 1) + 2 * (m - 1)),
          .posted = static_cast<double>(2 * (m - 1)),
          .flow = Flow::levels};
}

Loads loads_of_hierarchy(const PlanRequest& request) {
  const double l = request.per_node;
  const double m = request.nodes();
  Loads loads;
  loads.inside = 2 / l * (request.link_of_each_pair ? 1 : l - 1);
  loads.between = 2 * (m - 1) / m / l;
  loads.channels = 3 * (l - 1) / l + 2 * (m - 1) / m / l;
  loads.only_in = (l - 1) / l;
  loads.steps_inside = 2;
  loads.steps_between = 2 * (m - 1);
  return loads;
}

}  // namespace

// In one node it is the same as direct. Libraries have it for nodes of several GPUs, without flags
// in the data.
constinit const AlgorithmSpec algorithms::hierarchical = {
    .lands_in_place = true,
    .ahead = Ahead::one,
    .copied = 3,  // in, around, and out
    .flags_in_libraries = false,
    .worth_trying = [](const PlanRequest& request) { return !request.one_node(); },
    .in_libraries = [](const PlanRequest& request) { return request.per_node > 1; },
    .plans = plans_of_hierarchy,
    .counts = counts_of_hierarchy,
    .loads = loads_of_hierarchy};

}  // namespace weft
