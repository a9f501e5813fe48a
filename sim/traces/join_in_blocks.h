// Operators of a trace whose nodes say which operator of the model, in which of its blocks, they
// are.
#pragma once

#include <vector>

#include "sim/models/model_graph.h"
#include "sim/traces/meetings.h"
#include "sim/traces/problems.h"
#include "sim/traces/rank_trace.h"

namespace weft {

// The graph in the order in which the nodes that made its operators (`made_by`, one for each; all
// have a position) stand in the model, with their blocks. Operators at one position that do the
// same on different GPUs, and wait for the same, become one of several groups: what is alike is
// simulated once only if it ends together. It is a problem of a node if it waits for a later one.
ModelGraph join_in_blocks(ModelGraph&& graph, const std::vector<RankTrace>& ranks,
                          const std::vector<NodeAt>& made_by, TraceProblems& problems);

}  // namespace weft
