// A run that needs more memory than allowed, or more than can be counted, is refused before it
// takes any.
#pragma once

#include <functional>
#include <string>

#include "sim/core/diagnostics.h"
#include "sim/workloads/lower.h"

namespace weft {

// One problem for every mode whose estimate is above run.max_memory, or 2^31 items or messages.
// `file` is the scenario's.
Diagnostics check_memory(const Scenario& scenario, const std::string& file,
                         const std::function<Needs(Mode)>& needs_of);

}  // namespace weft
