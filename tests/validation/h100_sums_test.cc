// Sums of peers' parts by PyTorch on one H100 (calibration/pytorch/sums.py): the kernel that modes
// pipelined and copy_fed end with. The number of its instructions was read off two lines of the
// first file; the second one has other shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/measured/lines.h"
#include "sim/models/peer_kernels.h"
#include "sim/scenario/load.h"
#include "sim/workloads/plain_kernel.h"

namespace weft::h100_sums_test {
namespace {

Scenario h100() {
  const Loaded loaded = load_scenario_text(
      "name: measured\ncluster: {base: clusters/nodes_16x_8x_h100, nodes: 1, scale_out: ~, nic: "
      "~}\n"
      "modes: [bulk]\nworkload: {kind: collective, op: all_to_all, bytes: 1 MiB}\n",
      "measured.yaml", {.sets = {}, .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
  if (!loaded.scenario) throw std::runtime_error(loaded.problems.to_text());
  return *loaded.scenario;
}

double predicted_us(const MeasuredLine& line) {
  static const Scenario scenario = h100();
  static const Cluster cluster = build_cluster(scenario.cluster);
  const GpuSpec& gpu = cluster.spec.gpu;
  const auto parts = static_cast<std::uint32_t>(*line.number("parts"));
  const std::int64_t rows = *line.number("rows") * parts;
  const std::int64_t width = *line.number("width");
  ModelOp op;
  op.shape = GemmShape{.m = rows, .n = width, .k = 1024};
  const CommunicationShape call{
      .op = CollectiveOp::reduce_scatter, .buffer = bytes(2 * rows * width), .pair_bytes = {}};
  TaskGraph graph;
  graph.operators.push_back({.name = "sum"});
  Kernel kernel{.gpu = GpuId(0), .op = OperatorId(0)};
  kernel.launch = compute_gap(gpu.launch, LaunchKind::graph);
  add_items(graph, kernel, peer_kernels(op, call, gpu, parts).sum, gpu);
  graph.add_kernel(kernel, {});
  return to_microseconds(simulate(cluster, graph, scenario.run).time);
}

std::vector<double> errors_of(const std::string& file) {
  const MeasuredFile measured =
      read_measured(WEFT_SOURCE_DIR "/calibration/measurements/h100-pytorch-" + file);
  EXPECT_EQ(measured.problems.to_text(), "");
  std::vector<double> errors;
  for (const MeasuredLine& line : measured.lines) {
    if (line.kind != "parts_sum") continue;
    const double us = predicted_us(line);
    errors.push_back(std::abs(us / line.us - 1));
    std::cout << line.text() << ": " << line.us << " us, predicted " << us << " ("
              << std::round(1000 * (us / line.us - 1)) / 10 << " %)\n";
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

TEST(H100Sums, of_two_four_and_eight_parts_are_within_six_percent_in_the_median) {
  for (const char* file : {"sums.jsonl", "sums-2.jsonl"}) {
    const std::vector<double> errors = errors_of(file);
    ASSERT_EQ(errors.size(), 24U);
    std::cout << file << ": median " << errors[12] << ", 90 % " << errors[21] << '\n';
    EXPECT_LT(errors[12], 0.06) << file;
    EXPECT_LT(errors[21], 0.16) << file;
  }
}

}  // namespace
}  // namespace weft::h100_sums_test
