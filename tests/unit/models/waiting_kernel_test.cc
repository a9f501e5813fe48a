// Receives that wait on CUs beside what their GPU computes.
#include "sim/models/waiting_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "sim/models/build_model.h"
#include "sim/models/run_model.h"
#include "sim/scenario/load.h"
#include "tests/unit/engine/simulated.h"
#include "tests/unit/models/hand_made.h"

namespace weft::waiting_kernel_test {
namespace {

Scenario two_h100() {
  return scenario_of(R"(
name: two H100
cluster: {base: clusters/node_8x_h100, gpus_per_node: 2}
workload: {kind: collective, op: all_to_all, bytes: 2 MB}
)");
}

// One product on the first GPU, beside a receive of so many bytes; 0: beside none.
ModelGraph product_beside(std::int64_t size) {
  HandMadeModel model;
  model.add("product", "mlp", product(8192, 8192, 4096), model.groups(0, 1, 1), {});
  if (size > 0) model.graph.ops[OpId(0)].beside = PostedReceive{.size = bytes(size)};
  return model.graph;
}

TaskGraph tasks_of(std::int64_t size) {
  const Scenario scenario = two_h100();
  const Cluster cluster = build_cluster(scenario.cluster);
  return lower_model(product_beside(size),
                     {.options = overlap_options(scenario), .cluster = cluster});
}

// The library cuts a message to one of two ranks into parts for 16 channels (NCCL's
// calcP2pChannelCount: half of 32).
TEST(WaitingKernel, has_the_channels_of_the_librarys_receive_and_stays_until_the_product_ends) {
  const TaskGraph tasks = tasks_of(32 << 20);
  ASSERT_EQ(tasks.kernels.size(), 2U);
  const Kernel& waits = tasks.kernels[KernelId(0)];
  const Kernel& computes = tasks.kernels[KernelId(1)];
  EXPECT_EQ(tasks.operators[waits.op].name, "receive_waits");
  EXPECT_EQ(waits.max_grid, 16U);
  EXPECT_EQ(waits.finish, computes.ended);
  EXPECT_EQ(computes.launch - waits.launch, picoseconds(1));
}

TEST(WaitingKernel, is_not_there_unless_something_is_received) {
  EXPECT_EQ(tasks_of(0).kernels.size(), 1U);
}

// 8192 x 8192 in tiles on 132 SMs, of which 16 are held. Both end at the same instant.
TEST(WaitingKernel, takes_sms_from_the_product) {
  const Scenario scenario = two_h100();
  const Cluster cluster = build_cluster(scenario.cluster);
  const RunResult free = simulate(cluster, tasks_of(0), scenario.run);
  const TaskGraph tasks = tasks_of(32 << 20);
  const RunResult held = simulate(cluster, tasks, scenario.run);
  EXPECT_TRUE(held.ledger.balanced());
  EXPECT_EQ(held.operators[0].last_end, held.operators[1].last_end);
  const double longer = to_microseconds(held.time) / to_microseconds(free.time);
  EXPECT_GT(longer, 1.08);
  EXPECT_LT(longer, 1.25);
}

// Pairs that could be fused are timed by themselves, on one node; receives come from another.
TEST(WaitingKernel, is_not_beside_pairs_by_themselves) {
  const Loaded loaded = load_scenario_text(
      "{name: a, cluster: {base: clusters/nodes_16x_8x_h100, nodes: 4}, workload: {kind: "
      "transformer, phase: training, model: {layers: 8, hidden: 256, heads: 8, kv_heads: 8, inner: "
      "1024, vocabulary: 1000}, sequence_length: 256, microbatch: 1, sequences: 8, parallel: "
      "{tensor: 8, pipeline: 4, schedule: zb_v, sequence: true}}, modes: [bulk, fused]}",
      "a.yaml", {.sets = {}, .config_dirs = {std::filesystem::path(WEFT_SOURCE_DIR) / "configs"}});
  ASSERT_EQ(loaded.problems.to_text(), "");
  const Scenario& scenario = *loaded.scenario;
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  const auto waits = [](const ModelOp& op) { return op.beside && op.beside->between_nodes; };
  EXPECT_TRUE(std::any_of(graph.ops.begin(), graph.ops.end(), waits));
  ModelRun run(scenario, cluster, graph);
  for (const Mode mode : {Mode::bulk, Mode::fused}) {
    EXPECT_EQ(run.run(mode, {}).ending, Ending::finished);
  }
}

}  // namespace
}  // namespace weft::waiting_kernel_test
