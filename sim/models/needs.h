// The resources that running a model will take, estimated before any of it is lowered.
#pragma once

#include <vector>

#include "sim/collectives/collective.h"
#include "sim/models/fold.h"

namespace weft {

struct Needs {
  double items = 0;
  double sends = 0;
  Bytes memory;  // what run.max_memory is compared with
};

// Of the piece that needs the most memory: pieces are simulated one after another.
Needs estimated_needs(const std::vector<Piece>& pieces, const Scenario& scenario,
                      const Cluster& cluster, Mode mode);

// Of the pair that needs the most of a transfer and a piece that may be beside it (beside.h), each
// once. Nothing where there are none.
Needs estimated_needs_beside(const std::vector<Piece>& pieces, const Scenario& scenario,
                             const Cluster& cluster, Mode mode);

// How much there is to simulate, relative to other graphs on this cluster: WGs and messages of the
// operators, one after another.
double estimated_work(const ModelGraph& graph, const Scenario& scenario, const Cluster& cluster);

// Of a single operator.
Needs estimated_needs(const Scenario& scenario, const Cluster& cluster, Mode mode);

// Of a task graph of so many items and messages.
Needs estimated_needs(const Cluster& cluster, const CollectiveCounts& counts);

}  // namespace weft
