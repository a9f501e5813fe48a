// Copies of a model that do the same at the same time: some are simulated, and stand for all.
//
// Data-parallel copies compute the same, on GPUs of their own, and exchange gradients and
// parameters by rings through all of them. The nodes of a stage are a row of equal parts, of
// whole copies each; the first part stands for all. Its last ranks in a ring send to its first ones
// instead of to the next part's, which are where they are, and a ring keeps its number of steps.
//
//                stage 0                stage 1
//   whole    a b c d e f g h        i j k l m n o p        nodes
//   kept     a b                    i j                    h -> a  becomes  b -> a
//
// This changes no time where blocks of rings are equal (else by a byte of a block), and is done
// only where nothing tells the parts apart: no straggler, no degraded link, a network that loads
// the links of one part as those of the others (TopologySpec::stands_for_row), and no exchange
// between parts but by rings. The idea is that of an equitable partition: every member of a class
// has as many neighbours in each class.
//
// A collective alone is such a model, of one stage, and nothing else is beside its rings: a few
// nodes do exactly what all do. It is folded only where blocks are equal, so that it is the same.
#pragma once

#include <optional>

#include "sim/cluster/cluster.h"
#include "sim/engine/results.h"
#include "sim/models/model_graph.h"
#include "sim/scenario/scenario.h"

namespace weft {

struct AlikeCopies {
  Cluster cluster;   // of the nodes that stand for all
  ModelGraph graph;  // what they do
};

// Nothing if all have to be simulated. `whole` must outlive it.
std::optional<AlikeCopies> alike_copies(const Scenario& scenario, const Cluster& whole,
                                        const ModelGraph& graph);

// What all GPUs of the whole cluster do, from what these do.
RunResult of_all_copies(RunResult result, const Cluster& representatives);

}  // namespace weft
