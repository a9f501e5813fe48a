// A single operator and its collective are a model of two operators.
#include "sim/models/single_operator.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "sim/models/needs.h"
#include "sim/models/op_kernel.h"
#include "sim/models/run_model.h"
#include "tests/unit/engine/simulated.h"

namespace weft::single_operator_test {
namespace {

Scenario shipped(const std::string& name) {
  return scenario_of_file("scenarios/" + name + ".yaml");
}

const CommunicationShape& call_of(const ModelGraph& graph, std::uint32_t op) {
  return std::get<CommunicationShape>(graph.ops[OpId(op)].shape);
}

TEST(SingleOperator, results_that_travel_make_the_collective_come_second) {
  const Scenario scenario = shipped("gemm_rs_4_gpus");
  const ModelGraph graph = build_single(scenario);
  ASSERT_EQ(graph.ops.size(), 2U);
  const GemmWork& work = scenario.workload.gemm;
  const DescribedKernel& gemm = *graph.ops[OpId(0)].described;
  EXPECT_EQ(std::get<GemmWork>(gemm.work), work);
  EXPECT_EQ(call_of(graph, 1).op, CollectiveOp::reduce_scatter);
  // All of C, m x n, of two bytes each, is summed.
  EXPECT_EQ(call_of(graph, 1).buffer.count(), work.m * work.n * 2);
  EXPECT_EQ(graph.ops[OpId(1)].after, std::vector<OpId>{OpId(0)});
}

TEST(SingleOperator, input_that_travels_makes_it_come_first) {
  const Scenario scenario = shipped("ag_gemm_4_gpus");
  const ModelGraph graph = build_single(scenario);
  ASSERT_EQ(graph.ops.size(), 2U);
  EXPECT_EQ(call_of(graph, 0).op, CollectiveOp::all_gather);
  const GemmWork& work = scenario.workload.gemm;
  EXPECT_EQ(call_of(graph, 0).buffer.count(), work.m * work.k * 2);  // all of A
  EXPECT_EQ(graph.ops[OpId(1)].name, "gemm");
}

// The one rule by which whole models find pairs finds it too, as the kind that the scenario names.
TEST(SingleOperator, is_a_pair_that_can_be_fused_whatever_its_kind) {
  for (const char* name : {"embedding_a2a_4_gpus", "gemv_ar_4_gpus", "gemm_a2a_4_gpus",
                           "gemm_rs_4_gpus", "ag_gemm_4_gpus"}) {
    const Scenario scenario = shipped(name);
    const auto fusions = find_fusions(build_single(scenario), scenario.cluster.gpu);
    ASSERT_EQ(fusions.size(), 1U) << name;
    EXPECT_EQ(fusions[0].obstacle, "") << name;
    EXPECT_EQ(fusions[0].pattern, scenario.workload.kind) << name;
  }
}

TEST(SingleOperator, of_c3_the_two_do_not_wait_for_each_other) {
  const ModelGraph graph = build_single(shipped("c3/h200"));
  ASSERT_EQ(graph.ops.size(), 2U);
  EXPECT_TRUE(graph.ops[OpId(1)].after.empty());
  EXPECT_NE(graph.ops[OpId(0)].stream, graph.ops[OpId(1)].stream);
}

// What a whole model's GEMM of this size has: on an H200, cuBLAS's tile, taken from a counter.
TEST(SingleOperator, of_c3_may_be_the_librarys_gemm) {
  const Scenario scenario = shipped("c3/h200");
  const ModelGraph graph = build_single(scenario);
  const auto& gemm = std::get<GemmWork>(graph.ops[OpId(0)].described->work);
  GemmShape plain{.m = 8192, .n = 8192, .k = 8192, .m_by_rank = {}};
  const GemmWork chosen = choose_gemm(plain, scenario.cluster.gpu, 1);
  EXPECT_EQ(gemm.tile_m, chosen.tile_m);
  EXPECT_EQ(gemm.tile_n, chosen.tile_n);
  EXPECT_EQ(gemm.efficiency, chosen.efficiency);
  EXPECT_EQ(gemm.schedule, GemmSchedule::counter);
}

// Every grain overlaps the pair, faster or not: nothing is chosen, so nothing is tried.
TEST(SingleOperator, a_run_overlaps_it_in_every_mode_and_tries_no_candidates) {
  const Scenario scenario = shipped("gemv_ar_4_gpus");
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_single(scenario);
  ModelRun run(scenario, cluster, graph);
  for (const Mode mode : scenario.modes) {
    const RunResult result = run.run(mode, {});
    EXPECT_EQ(result.time, simulate(cluster, lower(scenario, cluster, mode), scenario.run).time);
  }
  EXPECT_TRUE(run.candidates().empty());
}

// Worked: 4 GPUs of gemm_rs_4_gpus have m / tile_m x n / tile_n tiles each. Fused, each WG stores
// its tile by itself into one of 3 peers (of 4, its own among them), and each slice has a flag.
TEST(SingleOperator, needs_are_estimated_from_its_wgs) {
  const Scenario scenario = shipped("gemm_rs_4_gpus");
  const Cluster cluster = build_cluster(scenario.cluster);
  const GemmWork& work = scenario.workload.gemm;
  const double tiles = static_cast<double>(work.m / work.tile_m * (work.n / work.tile_n));
  const double slices = tiles / 4 / scenario.fused.slice_wgs;  // of one peer
  const Needs fused = estimated_needs(scenario, cluster, Mode::fused);
  EXPECT_EQ(fused.items, 4 * tiles + 4 * slices);
  EXPECT_EQ(fused.sends, 4 * 3 * (slices + 1 + tiles / 4));
}

}  // namespace
}  // namespace weft::single_operator_test
