// Operators whose places in a model are known, in its blocks.
#pragma once

#include <functional>
#include <vector>

#include "sim/models/model_graph.h"
#include "sim/traces/meetings.h"
#include "sim/traces/problems.h"
#include "sim/traces/rank_trace.h"

namespace weft {

// Told of an operator that waits for a later one.
using WaitsForLater = std::function<void(OpId op, OpId later)>;

// The graph in the order of the positions of its operators, with their blocks. Operators at one
// position that do the same on different GPUs, and wait for the same, become one of several groups:
// what is alike is simulated once only if it ends together.
ModelGraph join_in_blocks(ModelGraph&& graph, const std::vector<ModelPosition>& positions,
                          const WaitsForLater& wrong);

// The same of a trace whose nodes say their positions: the operators' are those of the nodes that
// made them (`made_by`, one for each). It is a problem of a node if it waits for a later one.
ModelGraph join_in_blocks(ModelGraph&& graph, const std::vector<RankTrace>& ranks,
                          const std::vector<NodeAt>& made_by, TraceProblems& problems);

}  // namespace weft
