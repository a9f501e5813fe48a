// What a run depends on, as a key: the machine as its keys say, the task graph, the options,
// however a scenario came to them.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/core/digest.h"
#include "sim/tasks/task_graph.h"

namespace weft {

using RunKey = DigestValue;

// Of the options what the engine reads: the limits of events and time and the order of ties, not
// what is in the task graph already or changes no result (seed, launches, cores, memory).
RunKey key_of(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options);

// The cluster with all that lowering and the engine take from it; the same limits and order.
void add(Digest& digest, const Cluster& cluster);
void add_limits(Digest& digest, const RunOptions& options);

}  // namespace weft
