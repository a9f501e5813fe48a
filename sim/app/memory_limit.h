// A run that needs more memory than allowed, or more than can be counted, is refused before it
// takes any.
#pragma once

#include <string>

#include "sim/cluster/cluster.h"
#include "sim/core/diagnostics.h"

namespace weft {

// One problem for every mode whose estimate is above run.max_memory, or 2^31 items or messages.
// `file` is the scenario's.
Diagnostics check_memory(const Scenario& scenario, const Cluster& cluster, const std::string& file);

}  // namespace weft
