// What `why` advises brings what it says, and what would bring much is advised.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/models/single_operator.h"
#include "sim/report/why.h"
#include "sim/scenario/load.h"

namespace weft::advice_test {
namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(WEFT_SOURCE_DIR) / "configs";

RunReport run(const std::string& scenario, const std::vector<std::string>& sets) {
  const Loaded loaded = load_scenario(kConfigs / "scenarios" / (scenario + ".yaml"),
                                      {.sets = sets, .config_dirs = {kConfigs}});
  EXPECT_TRUE(loaded.scenario) << loaded.problems.to_text();
  const Cluster cluster = build_cluster(loaded.scenario->cluster);
  RunReport report{.scenario = *loaded.scenario,
                   .cluster = cluster,
                   .runs = {},
                   .version = "",
                   .command = "",
                   .inputs = {}};
  for (const Mode mode : {Mode::bulk, Mode::fused}) {
    ModeRun& made = report.runs.emplace_back();
    made.result = simulate(cluster, lower(*loaded.scenario, cluster, mode), loaded.scenario->run);
    made.result.mode = mode;
  }
  return report;
}

// Four GPUs, each pair with a link of its own, or on a switch, where only an order in which all
// send to one GPU at once can be mended.
TEST(Advice, of_an_order_is_given_where_it_brings_something) {
  int given = 0;
  for (const char* gpu : {"b200", "h100", "mi300x", "mi210"}) {
    for (const char* shape : {"fully_connected", "switch"}) {
      for (const char* order : {"remote_first", "given"}) {
        for (const char* scenario : {"gemm_ar_4_gpus", "gemm_rs_4_gpus"}) {
          std::vector<std::string> sets{std::string("cluster.gpu={base: gpus/") + gpu + "}",
                                        std::string("cluster.scale_up.shape=") + shape,
                                        "workload.gemm.m=4096",
                                        std::string("fused.order=") + order};
          const RunReport report = run(scenario, sets);
          sets.back() = "fused.order=staggered";
          const RunReport staggered = run(scenario, sets);
          const double faster = to_microseconds(report.runs[1].result.time) /
                                to_microseconds(staggered.runs[1].result.time);
          const bool advised = why(report).find("fused.order: staggered") != std::string::npos;
          const std::string what =
              std::string(scenario) + ' ' + gpu + ' ' + shape + ' ' + order + ": " + why(report);
          if (faster > 1.25) {
            EXPECT_TRUE(advised) << faster << " times as fast: " << what;
          }
          if (advised) {
            EXPECT_GT(faster, 1.02) << what;
          }
          EXPECT_EQ(why(staggered).find("fused.order: staggered"), std::string::npos);
          given += advised ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(given, 4);
}

}  // namespace
}  // namespace weft::advice_test
