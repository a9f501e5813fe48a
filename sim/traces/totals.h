// How much a graph made from a trace will communicate, counted from the graph itself.
#pragma once

#include <cstdint>

#include "sim/traces/load_trace.h"

namespace weft {

// Stays at the largest number if the sum of a hostile trace does not fit.
inline void add_bytes(std::int64_t& sum, std::int64_t more) {
  if (__builtin_add_overflow(sum, more, &sum)) sum = INT64_MAX;
}

// Adds operators and bytes_simulated of each part.
void add_simulated(const ModelGraph& graph, TraceSummary& summary);

}  // namespace weft
