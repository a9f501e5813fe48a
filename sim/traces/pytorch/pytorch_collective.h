// A call of the communication library as a node: its kind, its bytes, its group.
#pragma once

#include <optional>

#include "sim/traces/pytorch/kineto_file.h"
#include "sim/traces/pytorch/pytorch_rank.h"
#include "sim/traces/rank_trace.h"

namespace weft {

// Nothing after a problem. A PassNode if a single rank does it alone.
std::optional<TraceNode> collective_node(const CommCall& call, std::uint32_t rank,
                                         const std::string& file, const TraceGroups& groups,
                                         PytorchSums& sums, TraceProblems& problems);

}  // namespace weft
