// Hierarchical all-reduce: only 1/ranks_per_node of a rank's buffer crosses between the nodes.
#include "sim/collectives/collective_plan.h"
#include "sim/collectives/plan_parts.h"
#include "sim/core/assert.h"

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

}  // namespace weft
