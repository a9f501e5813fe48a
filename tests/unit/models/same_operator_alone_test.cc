// An operator and its collective take the same fused, whether a model has them or a scenario
// describes them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/core/quantity.h"
#include "sim/models/lower_model.h"
#include "sim/models/op_kernel.h"
#include "tests/unit/engine/simulated.h"

namespace weft::same_operator_alone_test {
namespace {

constexpr std::int64_t kM = 8192;
constexpr std::int64_t kN = 4096;
constexpr std::int64_t kK = 3584;

// The kernel that a model's GEMM has, as a scenario describes one.
std::string described(const GemmWork& gemm) {
  const auto field = [](const char* name, const std::string& value) {
    return std::string(name) + ": " + value + ", ";
  };
  return "{" + field("m", std::to_string(kM)) + field("n", std::to_string(kN)) +
         field("k", std::to_string(kK)) + field("tile_m", std::to_string(gemm.tile_m)) +
         field("tile_n", std::to_string(gemm.tile_n)) +
         field("split_k", std::to_string(gemm.split_k)) +
         field("swizzle", std::to_string(gemm.swizzle)) +
         field("efficiency", std::to_string(gemm.efficiency)) + "alone: 1, schedule: persistent, " +
         "wg: {" + field("threads", std::to_string(gemm.wg.threads)) +
         field("registers_per_thread", std::to_string(gemm.wg.registers_per_thread)) +
         field("loads_in_flight", std::to_string(gemm.wg.loads_in_flight)) +
         "lds: " + std::to_string(gemm.wg.lds.count()) + " B}}";
}

Scenario alone(const GemmWork& gemm, const std::vector<std::string>& sets) {
  return scenario_of(
      "name: alone\ncluster: {base: clusters/node_4x_mi210}\n"
      "workload: {kind: gemm_reduce_scatter, gemm: " +
          described(gemm) + "}\nmodes: [all]\n",
      sets);
}

// The same pair as operators of a model.
Duration in_a_model(const Scenario& scenario, Mode mode) {
  const Cluster cluster = build_cluster(scenario.cluster);
  ModelGraph graph;
  const PlaceId place = graph.add_place({.groups = {{0, 1, 2, 3}}});
  ModelOp gemm;
  gemm.name = "gemm";
  gemm.shape = GemmShape{.m = kM, .n = kN, .k = kK};
  gemm.place = place;
  const OpId producer = graph.add(gemm);
  ModelOp scatter;
  scatter.name = "reduce_scatter";
  scatter.shape = CommunicationShape{
      .op = CollectiveOp::reduce_scatter, .buffer = bytes(kM * kN * 2), .pair_bytes = {}};
  scatter.place = place;
  scatter.after = {producer};
  graph.add(scatter);
  const TaskGraph tasks =
      lower_model(graph, {.options = overlap_options(scenario),
                          .cluster = cluster,
                          .mode = mode,
                          .fusions = find_fusions(graph, scenario.cluster.gpu)});
  return simulate(cluster, tasks, scenario.run).time;
}

TEST(SameOperatorAlone, takes_the_same_fused_however_many_registers_are_added) {
  const Scenario any = scenario_of(
      "name: any\ncluster: {base: clusters/node_4x_mi210}\n"
      "workload: {kind: collective, op: all_to_all, bytes: 1 MiB}\n");
  const GemmWork gemm =
      choose_gemm(GemmShape{.m = kM, .n = kN, .k = kK}, any.cluster.gpu, any.cluster.gpus());
  for (const char* extra : {"0", "8", "24", "64"}) {
    const Scenario scenario =
        alone(gemm, {std::string("fused.extra_registers_per_thread=") + extra});
    EXPECT_EQ(in_a_model(scenario, Mode::fused), run(scenario, Mode::fused).time) << extra;
  }
}

TEST(SameOperatorAlone, takes_the_same_pipelined) {
  // A library chooses its tile for a part anew; here it is the same.
  const Scenario any = scenario_of(
      "name: any\ncluster: {base: clusters/node_4x_mi210}\n"
      "workload: {kind: collective, op: all_to_all, bytes: 1 MiB}\n");
  const GemmShape part{.m = kM / 4, .n = kN, .k = kK};
  const Scenario scenario = alone(choose_gemm(part, any.cluster.gpu, 1), {});
  const double in_model = to_microseconds(in_a_model(scenario, Mode::pipelined));
  EXPECT_NEAR(in_model, to_microseconds(run(scenario, Mode::pipelined).time), 0.01 * in_model);
}

}  // namespace
}  // namespace weft::same_operator_alone_test
