// Whether anything has done more than its rate and the time of the run allow: nothing may.
#pragma once

#include <string>

#include "sim/cluster/cluster.h"
#include "sim/engine/results.h"

namespace weft {

// What has, in words; empty: nothing.
std::string overdrawn(const RunResult& result, const Cluster& cluster);

}  // namespace weft
