// Lowering: workload and mode to a TaskGraph. One row per kind of workload.
#pragma once

#include <string>

#include "sim/collectives/collective.h"
#include "sim/scenario/modes.h"
#include "sim/tasks/task_graph.h"

namespace weft {

std::string title_of(const Workload& workload);  // "embedding + all-to-all", for people

// Of c3 a partition that was chosen may be given (sim/engine/partition.h); 0: c3.partition_cus.
TaskGraph lower(const Scenario& scenario, const Cluster& cluster, Mode mode, int partition_cus = 0);

// Whether this order would change when a single operator's fused kernel makes its results: not if
// it has that order already, if a GPU has only one peer, or if all its WGs start at once.
bool order_changes(const Scenario& scenario, const Cluster& cluster, DestinationOrder order);

// What running `mode` will need, estimated before it is lowered.
struct Needs {
  double items = 0;
  double sends = 0;
  Bytes memory;  // what run.max_memory is compared with
};
Needs estimated_needs(const Scenario& scenario, const Cluster& cluster, Mode mode);
Needs estimated_needs(const Cluster& cluster, const CollectiveCounts& counts);

}  // namespace weft
