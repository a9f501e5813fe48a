// A single operator and its collective, or a collective alone, as a model of two operators or one.
// The kernels are those that the scenario describes, down to their WGs.
#pragma once

#include <optional>

#include "sim/models/fusions.h"
#include "sim/workloads/c3.h"

namespace weft {

// For workloads that are not is_model().
ModelGraph build_single(const Scenario& scenario);

// How mode c3 assigns CUs to the two. `partition_cus`: a partition chosen before
// (sim/engine/partition.h), or 0 for that of c3.partition_cus. None for other kinds.
std::optional<C3Strategy> strategy_of(const Scenario& scenario, Mode mode, int partition_cus);

// The task graph of a single operator.
TaskGraph lower(const Scenario& scenario, const Cluster& cluster, Mode mode, int partition_cus = 0);

// Whether this order would change when a single operator's fused kernel makes its results. It would
// not if the kernel has that order already, if a GPU has only one peer, or if all WGs start at
// once.
bool order_changes(const Scenario& scenario, const Cluster& cluster, DestinationOrder order);

}  // namespace weft
