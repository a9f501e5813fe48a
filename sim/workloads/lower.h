// Lowering: workload and mode to a TaskGraph. One row per kind of workload.
#pragma once

#include "sim/scenario/modes.h"
#include "sim/workloads/task_graph.h"

namespace weft {

const char* title_of(WorkloadKind kind);  // "embedding + all-to-all", for people

// Strategies of c3 with a partition need one that is chosen (sim/engine/partition.h).
TaskGraph lower(const Scenario& scenario, const Cluster& cluster, Mode mode);

// Work-groups, messages and bytes of memory that running `mode` will take, before it is lowered:
// what run.max_memory is compared with.
Bytes estimated_memory(const Scenario& scenario, const Cluster& cluster, Mode mode);

}  // namespace weft
