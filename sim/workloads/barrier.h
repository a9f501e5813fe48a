// A barrier of a team's GPUs on a stream: a kernel of one WG on each.
#pragma once

#include <vector>

#include "sim/workloads/grid.h"

namespace weft {

// The WG sends a flag to each peer; its kernel ends when those of all have come. `after` and what
// is returned are by rank.
std::vector<KernelId> add_barrier(TaskGraph& graph, const Overlap& overlap, const Team& team,
                                  OperatorId op, const std::vector<std::vector<KernelId>>& after);

}  // namespace weft
