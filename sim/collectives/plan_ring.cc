// Rings: each rank sends to the next.
//
// In a reduce-scatter the part of position k sets out from k + 1 and is added to at every stop
// until it comes to k, after n - 1 steps. In an all-gather it sets out from k.
#include <algorithm>

#include "sim/collectives/collective_plan.h"
#include "sim/collectives/plan_parts.h"
#include "sim/core/assert.h"

namespace weft {
namespace {

// In step s the part of position i + offset - s leaves position i.
void add_ring(Plan& plan, const Group& group, Arrival arrival, std::size_t offset) {
  const std::size_t n = group.size();
  for (std::size_t step = 0; step + 1 < n; ++step) {
    for (std::size_t i = 0; i < n; ++i) {
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

}  // namespace weft
