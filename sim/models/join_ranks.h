// Pass over recorded traces, which have an operator for each rank: kernels of all ranks of a group
// that alone stand before the group's collective, or alone wait for it, become one operator, as in
// models of our own, so that find_fusions sees the two. So do the GEMMs whose result an elementwise
// kernel passes on to the collective.
#pragma once

#include "sim/models/model_graph.h"

namespace weft {

// Does the same on every GPU in the same order as `graph`.
ModelGraph join_ranks(const ModelGraph& graph);

}  // namespace weft
