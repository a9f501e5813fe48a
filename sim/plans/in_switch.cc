// Collectives that switches carry: that of the ranks' node, or those of several nodes with trees
// between them. They have no plans: sim/collectives defines what ranks and switches do.
#include "sim/plans/plan_ways.h"

namespace weft {
namespace {

PlanCounts counts_in_switch(const PlanRequest& request) {
  return {.blocks = request.op == CollectiveOp::broadcast ? 1 : std::int64_t{request.ranks}};
}

Loads loads_in_switch(const PlanRequest& request) {
  const double n = request.ranks;
  Loads loads;
  loads.inside = request.op == CollectiveOp::all_reduce ? 1 + 1 / n : 1;
  loads.channels = request.op == CollectiveOp::broadcast ? 1 : 1 / n;
  // Ready, loaded, stored.
  loads.steps_inside =
      1 + (reduces(request.op) ? 1 : 0) + (request.op == CollectiveOp::reduce_scatter ? 0 : 1);
  return loads;
}

CountedByLibrary in_switch_of_library(CollectiveOp op, double ranks) {
  return {.carried = op == CollectiveOp::all_reduce ? 1 : ranks / (ranks - 1), .steps = 1};
}

PlanCounts counts_in_switch_tree(const PlanRequest& request) {
  return {.plans = 2,
          .blocks = request.per_node,
          .steps = 2 * doublings(request.nodes()) + 3,
          .flow = Flow::pipeline};
}

Loads loads_in_switch_tree(const PlanRequest& request) {
  const double l = request.per_node;
  Loads loads;
  loads.inside = 1 + 1 / l;
  loads.between = (request.nodes() > 2 ? 2 : 1) / l;  // two trees, half in each
  loads.channels = 2 / l;
  loads.steps_inside = 3;
  loads.steps_between = 2 * static_cast<double>(doublings(request.nodes()));
  return loads;
}

}  // namespace

// NCCL uses NVLS for three GPUs or more (its nvls.cc): between two the switch saves nothing.
constinit const AlgorithmSpec algorithms::in_switch = {
    .possible =
        [](const PlanRequest& request) { return request.one_node() && request.switch_adds; },
    .in_libraries = [](const PlanRequest& request) { return request.ranks > 2; },
    .counts = counts_in_switch,
    .loads = loads_in_switch,
    .by_library = in_switch_of_library};

constinit const AlgorithmSpec algorithms::in_switch_tree = {
    .possible =
        [](const PlanRequest& request) {
          return !request.one_node() && request.per_node > 1 && request.switch_adds;
        },
    .in_libraries = [](const PlanRequest& request) { return request.per_node > 2; },
    .counts = counts_in_switch_tree,
    .loads = loads_in_switch_tree};

}  // namespace weft
