// A run that needs more memory than allowed, or more than can be counted, is refused before it
// takes any.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sim/core/diagnostics.h"
#include "sim/models/needs.h"

namespace weft {

// One problem for every mode whose estimate is above run.max_memory, or 2^31 items or messages.
// `file` is the scenario's.
Diagnostics check_memory(const Scenario& scenario, const std::string& file,
                         const std::function<Needs(Mode)>& needs_of);

// How much of a timeline run.max_memory has room for, in addition to a run that needs `run` and the
// `tracks` of its recordings. Nothing, and a problem, if there is none.
std::optional<Bytes> room_for_timeline(const Scenario& scenario, const std::string& file, Bytes run,
                                       Bytes tracks, Diagnostics& problems);

}  // namespace weft
