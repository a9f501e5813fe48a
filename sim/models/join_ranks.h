// Pass over recorded traces, which have one operator per rank. If the group's collective waits only
// for one kernel of each rank, or only these wait for it, they become one operator, as in models
// built by weft, so that find_fusions sees the pair. The same is done with GEMMs whose result an
// elementwise kernel passes on to the collective.
#pragma once

#include "sim/models/model_graph.h"

namespace weft {

// The result does the same as `graph` on every GPU, in the same order.
ModelGraph join_ranks(const ModelGraph& graph);

}  // namespace weft
