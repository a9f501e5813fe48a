// Models built for the tests from a few words of YAML.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sim/models/build_model.h"
#include "sim/models/step_work.h"
#include "sim/scenario/load.h"

namespace weft::models_testing {

inline LoadOptions shipped_configs() {
  return {.sets = {}, .config_dirs = {std::filesystem::path(WEFT_SOURCE_DIR) / "configs"}};
}

// A workload on so many nodes of eight H100, with memory for any model.
inline std::string text_of(const std::string& workload, int nodes) {
  return "{name: a, cluster: {base: clusters/nodes_16x_8x_h100, nodes: " + std::to_string(nodes) +
         ", gpu: {memory: {capacity: 100 TB}}}, workload: " + workload + "}";
}

inline Scenario scenario_of(const std::string& workload, int nodes) {
  const Loaded loaded = load_scenario_text(text_of(workload, nodes), "a.yaml", shipped_configs());
  EXPECT_EQ(loaded.problems.to_text(), "");
  return loaded.scenario.value_or(Scenario{});
}

// All problems, a line each, without their places.
inline std::vector<std::string> problems_of(const std::string& workload, int nodes) {
  std::vector<std::string> messages;
  const Loaded loaded = load_scenario_text(text_of(workload, nodes), "a.yaml", shipped_configs());
  for (const Diagnostic& problem : loaded.problems.all()) {
    messages.push_back(problem.path + ": " + problem.message);
  }
  return messages;
}

inline std::vector<std::string> names_of(const ModelGraph& graph) {
  std::vector<std::string> names;
  for (const ModelOp& op : graph.ops) names.push_back(op.name);
  return names;
}

inline std::vector<const ModelOp*> ops_named(const ModelGraph& graph, const std::string& name) {
  std::vector<const ModelOp*> found;
  for (const ModelOp& op : graph.ops) {
    if (op.name == name) found.push_back(&op);
  }
  return found;
}

inline const ModelOp& first_named(const ModelGraph& graph, const std::string& name) {
  const std::vector<const ModelOp*> found = ops_named(graph, name);
  EXPECT_FALSE(found.empty()) << name;
  return *found.at(0);
}

inline std::vector<std::string> names_after(const ModelGraph& graph, const ModelOp& op) {
  std::vector<std::string> names;
  for (const OpId before : op.after) names.push_back(graph.ops[before].name);
  return names;
}

inline Bytes buffer_of(const ModelOp& op) { return std::get<CommunicationShape>(op.shape).buffer; }

// Of all products (GEMMs and attention) that one GPU computes.
inline double product_flops_of_a_gpu(const ModelGraph& graph) {
  double sum = 0;
  for (const ModelOp& op : graph.ops) {
    const bool multiplies = std::holds_alternative<GemmShape>(op.shape) ||
                            std::holds_alternative<AttentionShape>(op.shape);
    if (multiplies) sum += static_cast<double>(flops_of(op.shape).count());
  }
  return sum;
}

inline void expect_within_one_percent(double value, double expected) {
  EXPECT_NEAR(value / expected, 1, 0.01) << value << " for " << expected;
}

}  // namespace weft::models_testing
