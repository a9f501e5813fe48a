// A model of one collective, run to its end.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/models/lower_model.h"
#include "tests/unit/engine/simulated.h"

namespace weft {

inline RunResult run_exchange(const Scenario& scenario, CommunicationShape call,
                              std::vector<std::uint32_t> gpus) {
  ModelGraph graph;
  ModelOp op;
  op.name = "exchange";
  op.shape = std::move(call);
  op.place = graph.add_place({.groups = {std::move(gpus)}});
  graph.add(op);
  const Cluster cluster = build_cluster(scenario.cluster);
  const TaskGraph tasks = lower_model(graph, {.options = overlap_options(scenario),
                                              .cluster = cluster,
                                              .mode = Mode::bulk,
                                              .fusions = {}});
  const RunResult result = simulate(cluster, tasks, scenario.run);
  EXPECT_EQ(result.ending, Ending::finished);
  EXPECT_TRUE(result.ledger.balanced());
  return result;
}

}  // namespace weft
