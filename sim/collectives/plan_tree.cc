// Trees. Blocks are cut into pieces by the lowering, which fill the tree like a pipeline.
#include <algorithm>

#include "sim/collectives/collective_plan.h"
#include "sim/collectives/plan_parts.h"
#include "sim/core/assert.h"

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

}  // namespace weft
