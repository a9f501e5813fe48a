// Norms of PyTorch's compiler, kernel by kernel, from profiles on one H100 (kernels' own times, no
// gaps): which sums it finds at once, and how long each kernel takes. Nothing was fitted to these
// times.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/measured/lines.h"
#include "sim/models/lower_model.h"
#include "sim/models/norm_backward.h"
#include "sim/models/single_operator.h"
#include "sim/scenario/load.h"

namespace weft::norms_test {
namespace {

// The kernel's own time on an H100.
double simulated_us(const StreamShape& shape) {
  static const Scenario scenario =
      *load_scenario_text(
           "name: norms\ncluster: {base: clusters/node_8x_h100}\nmodes: [bulk]\n"
           "workload: {kind: collective, op: all_to_all, bytes: 1 MiB}\n",
           "norms.yaml", {.sets = {}, .config_dirs = {WEFT_SOURCE_DIR "/configs"}})
           .scenario;
  static const Cluster cluster = build_cluster(scenario.cluster);
  ModelGraph graph;
  ModelOp op;
  op.name = "norm";
  op.part = "measured";
  op.shape = shape;
  op.place = graph.add_place({.groups = {{0}}});
  graph.add(op);
  const TaskGraph tasks = lower_model(graph, {.options = overlap_options(scenario),
                                              .cluster = cluster,
                                              .mode = Mode::bulk,
                                              .fusions = {}});
  return to_microseconds(simulate(cluster, tasks, scenario.run).operators.front().longest);
}

StreamShape shape_of(const MeasuredLine& line, const NormBackward& backward) {
  const bool adds = line.says("op", "add_rms_norm");
  if (line.says("part", "inputs")) return backward.inputs;
  if (line.says("part", "weights")) return backward.weights;
  return stream_of({.elements = *line.number("tokens") * *line.number("width"),
                    .read = adds ? 2 : 1,
                    .written = adds ? 2 : 1,
                    .operations = 4},
                   DataType::bf16);
}

NormBackward backward_of(const MeasuredLine& line) {
  return norm_backward_of(*line.number("tokens"), *line.number("width"),
                          line.says("op", "add_rms_norm") ? 3 : 2, DataType::bf16);
}

std::vector<MeasuredLine> lines() {
  MeasuredFile measured =
      read_measured(WEFT_SOURCE_DIR "/calibration/measurements/h100-pytorch-norms.jsonl");
  EXPECT_EQ(measured.problems.to_text(), "");
  EXPECT_EQ(measured.lines.size(), 123U);
  return measured.lines;
}

TEST(Norms, sum_both_ways_at_once_where_the_compiler_does) {
  for (const MeasuredLine& line : lines()) {
    EXPECT_EQ(backward_of(line).at_once, line.says("at_once", "yes")) << line.text();
  }
}

TEST(Norms, kernels_take_as_long_as_measured) {
  std::map<std::string, std::vector<double>> errors;       // by kernel
  std::map<std::string, std::pair<double, double>> norms;  // measured and predicted, by norm
  for (const MeasuredLine& line : lines()) {
    const double us = simulated_us(shape_of(line, backward_of(line)));
    const std::string kernel = line.words.at("part") + ", at once: " + line.words.at("at_once");
    if (line.us > 10) errors[kernel].push_back(us / line.us - 1);
    auto& norm = norms[line.words.at("op") + ' ' + std::to_string(*line.number("tokens")) + " x " +
                       std::to_string(*line.number("width"))];
    norm.first += line.us;
    norm.second += us;
    std::cout << line.text() << ": " << line.us << " us, predicted " << us << " ("
              << std::round((us / line.us - 1) * 100) << " %)\n";
  }
  for (const auto& [name, norm] : norms) {
    if (norm.first > 15) errors["all of a norm"].push_back(norm.second / norm.first - 1);
  }
  const auto sizes_of = [&](double part) {
    std::vector<double>& all = errors["all of a norm"];
    return std::abs(all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))]);
  };
  for (auto& [kernel, all] : errors) {
    std::sort(all.begin(), all.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    std::cout << kernel << ": " << all.size() << ", median " << std::abs(all[all.size() / 2]) * 100
              << " %, nine of ten " << std::abs(all[all.size() * 9 / 10]) * 100 << " %\n";
  }
  EXPECT_LT(sizes_of(0.5), 0.08);
  EXPECT_LT(sizes_of(0.9), 0.20);
}

}  // namespace
}  // namespace weft::norms_test
