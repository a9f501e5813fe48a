// One point of a sweep, from its checked scenario to its row.
#pragma once

#include <string>

#include "sim/scenario/load.h"
#include "sim/sweep/memory_gate.h"
#include "sim/sweep/row.h"

namespace weft {

// Whatever goes wrong is in the outcome, except that weft itself is stopped: throws Interrupted.
PointOutcome run_point(const Loaded& loaded, const std::string& command, MemoryGate& gate);

// The same in a process of its own, whose crash is an outcome too.
PointOutcome run_point_apart(const Loaded& loaded, const std::string& command);

}  // namespace weft
