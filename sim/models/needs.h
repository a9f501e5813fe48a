// What running a model will take, estimated before any of it is lowered.
#pragma once

#include <vector>

#include "sim/models/fold.h"
#include "sim/workloads/lower.h"

namespace weft {

// Of the piece that takes most memory: they are simulated one after another.
Needs estimated_needs(const std::vector<Piece>& pieces, const Scenario& scenario,
                      const Cluster& cluster, Mode mode);

}  // namespace weft
