// What a graph made from a trace will communicate, counted from the graph itself.
#pragma once

#include "sim/traces/load_trace.h"

namespace weft {

// Adds operators and bytes_simulated of each part.
void add_simulated(const ModelGraph& graph, TraceSummary& summary);

}  // namespace weft
