// Measured runs on four H200 against simulated ones (docs/validation.md).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/models/single_operator.h"
#include "sim/scenario/load.h"

namespace weft::h200_test {
namespace {

namespace fs = std::filesystem;

const fs::path kMeasured =
    fs::path(WEFT_SOURCE_DIR) / "calibration/measurements/h200-x4-reference.jsonl";
const fs::path kConfigs = fs::path(WEFT_SOURCE_DIR) / "configs";
const fs::path kScenario = kConfigs / "scenarios/embedding_a2a_4x_h200.yaml";

std::vector<nlohmann::json> measured(const std::string& kind) {
  std::vector<nlohmann::json> cases;
  std::ifstream stream(kMeasured);
  for (std::string line; std::getline(stream, line);) {
    const auto parsed = nlohmann::json::parse(line);
    if (parsed.at("kind") == kind) cases.push_back(parsed);
  }
  return cases;
}

// The scenario with the parameters of a measured case.
std::vector<std::string> sets_of(const nlohmann::json& one) {
  const auto set = [&](const char* key, const char* name) {
    return "workload." + std::string(key) + "=" + std::to_string(one.at(name).get<std::int64_t>());
  };
  return {set("batch", "batch"),
          set("tables_per_gpu", "tables"),
          set("dim", "dim"),
          set("pooling", "pooling"),
          set("rows_per_wg", "rows_per_wg"),
          set("rows_per_table", "rows_per_table")};
}

double simulated_us(const nlohmann::json& one, Mode mode) {
  const Loaded loaded = load_scenario(kScenario, {.sets = sets_of(one), .config_dirs = {kConfigs}});
  EXPECT_TRUE(loaded.scenario) << loaded.problems.to_text();
  if (!loaded.scenario) return 0;
  const Cluster cluster = build_cluster(loaded.scenario->cluster);
  const TaskGraph graph = lower(*loaded.scenario, cluster, mode);
  return to_microseconds(simulate(cluster, graph, loaded.scenario->run).time);
}

TEST(H200, embedding_then_all_to_all_takes_about_as_long_as_measured) {
  if (!fs::exists(kScenario)) GTEST_SKIP() << "no scenario " << kScenario;
  const std::vector<nlohmann::json> cases = measured("emb.bulk");
  ASSERT_FALSE(cases.empty());
  for (const nlohmann::json& one : cases) {
    const double us = one.at("us").get<double>();
    EXPECT_NEAR(simulated_us(one, Mode::bulk), us, 0.6 * us) << one;
  }
}

}  // namespace
}  // namespace weft::h200_test
