// The pieces of a folded model without its runs: enough to estimate what it takes, in a fraction of
// the time and memory of folding it.
#pragma once

#include <vector>

#include "sim/models/fold.h"

namespace weft {

// Those of fold(graph, cluster), in the same order.
std::vector<Piece> pieces_of(const ModelGraph& graph, const Cluster& cluster);

}  // namespace weft
