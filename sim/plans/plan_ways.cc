#include "sim/plans/plan_ways.h"

#include <algorithm>
#include <bit>

namespace weft {

Wiring wiring_of(const PlanRequest& request) {
  return request.link_of_each_pair ? Wiring::all_pairs : Wiring::shared;
}

// Where each pair has a link of its own, channels that all began with the same peer would leave
// the other links idle, so each plan begins with a different one.
std::uint32_t direct_plans(const PlanRequest& request) {
  const bool several = request.link_of_each_pair && request.per_node > 1;
  return several ? std::min(request.per_node - 1, kMostPlans) : 1;
}

std::vector<RankOrder> some_ways(const PlanRequest& request, std::uint32_t count) {
  const std::uint32_t ranks = request.per_node;
  const std::vector<RankOrder> all = ways_through(ranks, wiring_of(request));
  std::vector<RankOrder> some;
  for (std::uint32_t i = 0; i < count; ++i) some.push_back(all[i * ranks / count]);
  return some;
}

std::int64_t doublings(std::int64_t ranks) {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(ranks) - 1));
}

Loads& operator+=(Loads& a, const Loads& b) {
  a.inside += b.inside;
  a.between += b.between;
  a.channels += b.channels;
  a.steps_inside += b.steps_inside;
  a.steps_between += b.steps_between;
  return a;
}

Loads times(Loads loads, double factor) {
  loads.inside *= factor;
  loads.between *= factor;
  loads.channels *= factor;
  loads.steps_inside *= factor;
  loads.steps_between *= factor;
  return loads;
}

CountedByLibrary counted_in_turn(CollectiveOp op, double ranks) {
  if (op == CollectiveOp::broadcast) return {.carried = 1, .steps = ranks};
  const int phases = op == CollectiveOp::all_reduce ? 2 : 1;
  return {.carried = phases * (ranks - 1) / ranks, .steps = phases * (ranks - 1)};
}

}  // namespace weft
