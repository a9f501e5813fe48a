// A grid's shape, which plans are made of, against the whole grid, which is simulated.
#include <gtest/gtest.h>

#include "sim/workloads/embedding.h"
#include "sim/workloads/gemm.h"
#include "tests/unit/engine/simulated.h"

namespace weft::shapes_test {
namespace {

void expect_same_shape(const Grid& shape, const Grid& grid) {
  EXPECT_EQ(shape.name, grid.name);
  EXPECT_EQ(shape.gpus, grid.gpus);
  EXPECT_EQ(shape.per_peer, grid.per_peer);
  EXPECT_EQ(shape.unit, grid.unit);
  EXPECT_EQ(shape.units_in_turn, grid.units_in_turn);
  EXPECT_EQ(shape.in_a_row, grid.in_a_row);
  EXPECT_EQ(shape.parts, grid.parts);
  EXPECT_EQ(shape.result_bytes, grid.result_bytes);
  EXPECT_EQ(shape.element_bytes, grid.element_bytes);
  EXPECT_EQ(shape.input_bytes, grid.input_bytes);
}

TEST(Shapes, are_those_of_the_grids) {
  for (const char* name : {"embedding_a2a_4_gpus", "embedding_a2a_2_nodes"}) {
    const Scenario scenario = scenario_of_file(std::string("scenarios/") + name + ".yaml");
    const Cluster cluster = build_cluster(scenario.cluster);
    expect_same_shape(
        embedding_shape(scenario.workload.embedding, cluster.gpus()),
        embedding_grid(scenario.workload.embedding, scenario.cluster.gpu, cluster.gpus(), {}));
    expect_same_shape(embedding_backward_shape(scenario.workload.embedding, cluster.gpus()),
                      embedding_backward_grid(scenario.workload.embedding, scenario.cluster.gpu,
                                              cluster.gpus(), {}));
  }
  for (const char* name : {"gemm_a2a_4_gpus", "gemm_rs_4_gpus", "ag_gemm_4_gpus"}) {
    const Scenario scenario = scenario_of_file(std::string("scenarios/") + name + ".yaml");
    const Cluster cluster = build_cluster(scenario.cluster);
    expect_same_shape(gemm_shape(scenario.workload.gemm, cluster.gpus()),
                      gemm_grid(scenario.workload.gemm, scenario.cluster.gpu, cluster.gpus(), {}));
  }
}

}  // namespace
}  // namespace weft::shapes_test
