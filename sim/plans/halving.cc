// Halving and doubling: the reduce-scatter is the all-gather in reverse.
//
// Powers of two. All-gather: after k steps a rank has the parts of the 2^k ranks that differ from
// it only in the last k bits, and exchanges them with the rank that differs in the next bit.
//
// Other n. All-gather: before the step of distance d position i has the parts i ... i + d - 1 and
// sends them to i - d; the last step sends only the n - d parts that are still missing there.
// (Bruck et al., Efficient algorithms for all-to-all communications in multiport message-passing
// systems, IEEE TPDS 8, 1997.) Every rank sends n - 1 parts, in ceil(log2 n) steps.
#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/core/assert.h"
#include "sim/plans/collective_plan.h"
#include "sim/plans/plan_parts.h"
#include "sim/plans/plan_ways.h"

namespace weft {
namespace {

struct Positions {
  std::size_t first = 0;
  std::size_t count = 0;
};

// The parts of these positions, which must be contiguous, as one transfer.
void add_run(Plan& plan, const Group& group, Positions run, Hop hop, Arrival arrival) {
  if (run.count == 0) return;
  BlockRange range{.first = group[run.first].part.first, .blocks = 0};
  for (std::size_t i = run.first; i < run.first + run.count; ++i) {
    SIM_ASSERT(group[i].part.first == range.first + range.blocks);
    range.blocks += group[i].part.blocks;
  }
  add(plan, hop, range, arrival);
}

// The same, continuing at position 0 after the last.
void add_around(Plan& plan, const Group& group, Positions run, Hop hop, Arrival arrival) {
  const std::size_t first = run.first % group.size();
  const std::size_t before_wrap = std::min(run.count, group.size() - first);
  add_run(plan, group, {first, before_wrap}, hop, arrival);
  add_run(plan, group, {0, run.count - before_wrap}, hop, arrival);
}

// One step of distance d of an all-gather (replaces) or a reduce-scatter (adds).
void add_step(Plan& plan, const Group& group, std::size_t d, Arrival arrival) {
  const std::size_t n = group.size();
  const bool gathers = arrival == Arrival::replaces;
  for (std::size_t i = 0; i < n; ++i) {
    if (std::has_single_bit(n)) {
      const std::size_t peer = i ^ d;
      const std::size_t whose = gathers ? i : peer;
      add_run(plan, group, {whose / d * d, d}, {group[i].rank, group[peer].rank}, arrival);
    } else {
      const std::size_t peer = (gathers ? i + n - d : i + d) % n;
      const std::size_t first = gathers ? i : peer;
      add_around(plan, group, {first, std::min(d, n - d)}, {group[i].rank, group[peer].rank},
                 arrival);
    }
  }
}

}  // namespace

void add_halving_reduce_scatter(Plan& plan, const Group& group) {
  for (std::size_t d = std::bit_ceil(group.size()) / 2; d > 0; d /= 2) {
    add_step(plan, group, d, Arrival::adds);
  }
}

void add_doubling_all_gather(Plan& plan, const Group& group) {
  for (std::size_t d = 1; d < group.size(); d *= 2) add_step(plan, group, d, Arrival::replaces);
}

namespace {

std::vector<Plan> plans_of_halving(const PlanRequest& request) {
  return {scheme_plan(request.op, Scheme::halving, identity_order(request.ranks))};
}

// Half of the buffer moves in the largest step.
PlanCounts counts_of_halving(const PlanRequest& request) {
  const std::int64_t n = request.ranks;
  const std::int64_t phases = request.op == CollectiveOp::all_reduce ? 2 : 1;
  const std::int64_t shared = phases == 2 ? std::int64_t{std::bit_floor(request.ranks)} : n;
  PlanCounts counts{.blocks = shared,
                    .transfers = phases * 2 * shared * doublings(shared) + 2 * (n - shared),
                    .busiest_rank = phases * (2 * doublings(shared) + 1) + 1,
                    .steps = phases * doublings(n),
                    .sent = static_cast<double>(phases * (n - 1) + 2 * (n - shared)),
                    .cut_into = 2};
  if (!request.one_node()) {
    const auto steps = static_cast<double>(counts.steps);
    counts.posted = std::max(1.0, steps * std::log2(static_cast<double>(request.nodes())) /
                                      std::log2(static_cast<double>(n)));
  }
  return counts;
}

Loads loads_of_halving(const PlanRequest& request) {
  const double n = request.ranks;
  Loads loads;
  loads.inside = (n - 1) / n;
  if (!request.one_node()) loads.between = 1 - 1.0 / request.nodes();
  loads.steps_inside = static_cast<double>(doublings(request.per_node));
  loads.steps_between = static_cast<double>(doublings(request.nodes()));
  loads.channels = (n - 1) / n;
  return times(loads, request.op == CollectiveOp::all_reduce ? 2 : 1);
}

}  // namespace

constinit const AlgorithmSpec algorithms::halving_doubling = {
    .plans = plans_of_halving, .counts = counts_of_halving, .loads = loads_of_halving};

}  // namespace weft
