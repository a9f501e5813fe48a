// GEMMs of a library beside a kernel that only holds SMs: how many more rounds of tiles they take.
// calibration/measurements/h200-pytorch-interference.jsonl, kind "beside" without any copying;
// nothing was fitted to these lines, the mechanism was read off them (docs/model.md, "Which
// tiles").
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/models/lower_model.h"
#include "sim/scenario/load.h"

namespace weft::held_cus_test {
namespace {

Scenario eight_h200() {
  const Loaded loaded = load_scenario_text(
      "name: held\ncluster: {base: clusters/node_8x_h200}\nworkload: {kind: collective, op: "
      "all_to_all, bytes: 1 MB}\n",
      "held.yaml", {.sets = {}, .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
  EXPECT_EQ(loaded.problems.to_text(), "");
  return *loaded.scenario;
}

// WGs that fill `cus` CUs before the GEMM comes, and outlast it.
void hold(TaskGraph& graph, const GpuSpec& gpu, int cus) {
  graph.begin_works();
  Work work;
  work.fixed = microseconds(100'000);
  Kernel kernel{.gpu = GpuId(0),
                .op = graph.operators.push_back({.name = "holds", .role = KernelRole::compute})};
  kernel.wg = footprint(gpu.cu.waves * gpu.wave_size, 1, bytes(0), gpu.wave_size);
  const std::uint32_t index = graph.add_work(work);
  graph.items.add({.work = index & 0xFFU, .scale = Item::kUnit}, static_cast<std::uint32_t>(cus));
  graph.add_kernel(kernel, {});
}

double time_us(const Scenario& scenario, const GemmShape& shape, int cus) {
  const Cluster cluster = build_cluster(scenario.cluster);
  ModelGraph model;
  ModelOp op;
  op.name = op.part = "kernel";
  op.shape = shape;
  op.place = model.add_place({.groups = {{0}}});
  model.add(std::move(op));
  OverlapOptions options;
  options.launch = LaunchKind::graph;
  TaskGraph graph = lower_model(model, {.options = options, .cluster = cluster});
  graph.kernels[KernelId(0)].launch = microseconds(10);
  if (cus > 0) hold(graph, scenario.cluster.gpu, cus);
  graph.verify();
  const RunResult result = simulate(cluster, graph, scenario.run);
  EXPECT_EQ(result.ending, Ending::finished);
  return to_microseconds(result.operators.front().last_end - SimTime{}) - 10;
}

TEST(HeldCus, library_gemms_of_h200_take_as_many_more_rounds_as_measured) {
  const Scenario scenario = eight_h200();
  std::ifstream file(WEFT_SOURCE_DIR "/calibration/measurements/h200-pytorch-interference.jsonl");
  std::vector<double> errors;
  double alone = 0;
  double alone_cycles = 0;
  for (std::string text; std::getline(file, text);) {
    const auto line = nlohmann::json::parse(text);
    if (line["kind"] != "beside" || line["gemm"] != "library" || line["interval_ns"] != 0) continue;
    const GemmShape shape{.m = line["m"], .n = line["n"], .k = line["k"]};
    const int pairs = line["pairs_held"];
    // Fewer SMs take less power: the clock rises.
    const double cycles = line["us"].get<double>() * line["sm_mhz"].get<double>();
    const double time = time_us(scenario, shape, 2 * pairs);
    if (pairs == 0) {
      alone = time;
      alone_cycles = cycles;
      continue;
    }
    const double measured = cycles / alone_cycles;
    const double predicted = time / alone;
    errors.push_back(std::abs(predicted / measured - 1));
    std::printf("%lld x %lld x %lld, %d pairs: measured %.3f, predicted %.3f\n",
                static_cast<long long>(shape.m), static_cast<long long>(shape.n),
                static_cast<long long>(shape.k), pairs, measured, predicted);
  }
  ASSERT_EQ(errors.size(), 38U);
  std::sort(errors.begin(), errors.end());
  std::printf("median %.1f %%, 90 %% within %.1f %%, worst %.1f %%\n",
              100 * errors[errors.size() / 2], 100 * errors[errors.size() * 9 / 10],
              100 * errors.back());
  EXPECT_LT(errors[errors.size() / 2], 0.03);
  EXPECT_LT(errors[errors.size() * 9 / 10], 0.08);
}

}  // namespace
}  // namespace weft::held_cus_test
