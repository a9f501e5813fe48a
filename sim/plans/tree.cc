// Trees. The lowering cuts blocks into pieces, which fill the tree like a pipeline.
#include <algorithm>

#include "sim/core/assert.h"
#include "sim/plans/collective_plan.h"
#include "sim/plans/plan_parts.h"
#include "sim/plans/plan_ways.h"

namespace weft {
namespace {

void add_down(Plan& plan, const RankOrder& order) {
  const auto n = static_cast<std::uint32_t>(order.size());
  std::vector<std::uint32_t> downwards = tree_upwards(n);
  std::reverse(downwards.begin(), downwards.end());
  for (const std::uint32_t child : downwards) {
    add(plan, {.from = order[tree_parent(child, n)], .to = order[child]}, {});
  }
}

}  // namespace

Plan all_reduce_tree(const RankTree& tree) {
  Plan plan{.collective = Collective::all_reduce,
            .ranks = static_cast<std::uint32_t>(tree.parent.size())};
  begin_phase(plan);
  for (const std::uint32_t child : tree.upwards) {
    add(plan, {.from = child, .to = tree.parent[child]}, {}, Arrival::adds);
  }
  begin_phase(plan);
  for (auto child = tree.upwards.rbegin(); child != tree.upwards.rend(); ++child) {
    add(plan, {.from = tree.parent[*child], .to = *child}, {});
  }
  return plan;
}

Plan broadcast_tree(const RankOrder& order, std::uint32_t root) {
  Plan plan{.collective = Collective::broadcast,
            .ranks = static_cast<std::uint32_t>(order.size()),
            .root = root};
  begin_phase(plan);
  RankOrder from_root = order;
  const auto at = std::find(from_root.begin(), from_root.end(), root);
  SIM_ASSERT(at != from_root.end());
  std::rotate(from_root.begin(), at, from_root.end());
  add_down(plan, from_root);
  return plan;
}

namespace {

// Each tree leaves the nodes by a different GPU. With several nodes, those that are inside one tree
// are leaves of the other.
std::uint32_t tree_ways(const PlanRequest& request) {
  return std::min(request.per_node, request.one_node() ? kMostPlans : kMostPlans / 2);
}

std::vector<Plan> plans_of_tree(const PlanRequest& request) {
  std::vector<Plan> plans;
  if (request.op == CollectiveOp::broadcast) {
    for (const RankOrder& order : tree_orders(request.ranks)) {
      plans.push_back(broadcast_tree(order, request.root));
    }
    return plans;
  }
  std::vector<RankOrder> nodes{identity_order(request.nodes())};
  if (!request.one_node()) nodes = tree_orders(request.nodes());
  for (const RankOrder& way : some_ways(request, tree_ways(request))) {
    for (const RankOrder& order : nodes) {
      plans.push_back(all_reduce_tree(tree_of_chains(order, way)));
    }
  }
  return plans;
}

// Messages between nodes: inside one tree, one up and two down; as a leaf of the other, one up.
PlanCounts counts_of_tree(const PlanRequest& request) {
  const std::int64_t n = request.ranks;
  const bool one_node = request.one_node();
  if (request.op == CollectiveOp::broadcast) {
    return {.plans = 2,
            .transfers = n - 1,
            .busiest_rank = 4,
            .steps = doublings(n),
            .sent = static_cast<double>(n - 1),
            .posted = one_node ? 0.0 : 2.0,
            .flow = Flow::pipeline};
  }
  const std::int64_t m = request.nodes();
  PlanCounts counts{.plans = std::int64_t{tree_ways(request)} * (one_node ? 1 : 2),
                    .transfers = 2 * (n - 1),
                    .busiest_rank = 5,
                    .steps = 2 * (request.per_node - 1 + doublings(m)),
                    .sent = static_cast<double>(2 * (n - 1)),
                    .flow = Flow::pipeline};
  if (!one_node) counts.posted = (m > 2 ? 4 : 2) / static_cast<double>(counts.plans);
  return counts;
}

// Two binary trees, each for half of the buffer: every rank is inside one of them.
Loads loads_of_broadcast_tree(const PlanRequest& request) {
  Loads loads;
  loads.inside = request.link_of_each_pair ? 0.5 : 1;
  if (!request.one_node()) loads.between = 1;
  loads.steps_inside = static_cast<double>(doublings(request.per_node));
  loads.steps_between = static_cast<double>(doublings(request.nodes()));
  loads.channels = 1.5;
  return loads;
}

// Up and down chains, whose heads form trees. A head inside a tree of nodes receives and passes on
// three messages; where there are two nodes, two.
Loads loads_of_tree(const PlanRequest& request) {
  if (request.op == CollectiveOp::broadcast) return loads_of_broadcast_tree(request);
  const double l = request.per_node;
  const std::uint32_t m = request.nodes();
  Loads loads;
  loads.inside = request.link_of_each_pair ? 2 / l : 2 * (l - 1) / l;
  if (!request.one_node()) {
    loads.between = (m > 2 ? 4.0 : 2.0) / static_cast<double>(counts_of_tree(request).plans);
  }
  loads.steps_inside = 2 * (l - 1);
  loads.steps_between = 2 * static_cast<double>(doublings(m));
  loads.channels = 2 * static_cast<double>(m > 2 ? 3 : m);
  return loads;
}

CountedByLibrary tree_of_library(CollectiveOp /*op*/, double ranks) {
  return {.carried = 2, .steps = 2 * (ranks - 1)};  // a chain
}

}  // namespace

constinit const AlgorithmSpec algorithms::tree = {.ahead = Ahead::by_depth,
                                                  .plans = plans_of_tree,
                                                  .counts = counts_of_tree,
                                                  .loads = loads_of_tree,
                                                  .by_library = tree_of_library};

}  // namespace weft
