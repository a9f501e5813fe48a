// The pieces of a folded model without its runs: enough to estimate the resources that it needs, in
// a fraction of the time and memory that folding takes.
#pragma once

#include <vector>

#include "sim/models/fold.h"

namespace weft {

// The pieces of fold(graph, cluster), in the same order.
std::vector<Piece> pieces_of(const ModelGraph& graph, const Cluster& cluster);

}  // namespace weft
