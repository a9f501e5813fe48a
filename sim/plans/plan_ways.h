// Over how many plans, and along which paths, an algorithm spreads what it sends.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/plans/algorithm.h"

namespace weft {

// Each has a copy of the plan, of n^2 transfers.
inline constexpr std::uint32_t kMostPlans = 16;

Wiring wiring_of(const PlanRequest& request);

// How many plans where they are direct inside nodes.
std::uint32_t direct_plans(const PlanRequest& request);

// `count` of the ways through a node's GPUs (ways_through), far apart.
std::vector<RankOrder> some_ways(const PlanRequest& request, std::uint32_t count);

// Smallest k with 2^k >= ranks.
std::int64_t doublings(std::int64_t ranks);

}  // namespace weft
