// Input of a fused kernel that copy engines bring: fetched after a copy and a barrier, or pushed.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "sim/run/scenario_run.h"
#include "sim/scenario/load.h"

namespace weft::brought_input_test {
namespace {

RunResult copy_fed(const std::string& brought) {
  const Loaded loaded = load_scenario_text(
      "name: brought\ncluster: {base: clusters/node_8x_h100, gpus_per_node: 4}\n"
      "workload: {kind: all_gather_gemm, gemm: {m: 4096, n: 4096, k: 4096}}\n"
      "modes: [copy_fed]\nfused: {brought: " +
          brought + "}\n",
      "brought.yaml", {.sets = {}, .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
  EXPECT_EQ(loaded.problems.to_text(), "");
  ScenarioRun run(loaded);
  return std::get<RunReport>(run.run("")).runs.front().result;
}

const OperatorUse* operator_named(const RunResult& result, const std::string& part) {
  const auto found = std::find_if(
      result.operators.begin(), result.operators.end(),
      [&](const OperatorUse& use) { return use.name.find(part) != std::string::npos; });
  return found == result.operators.end() ? nullptr : &*found;
}

// Each of four GPUs has 1,024 rows of 8 KiB for each of three others, either way.
TEST(BroughtInput, pushed_needs_no_copy_and_no_barrier_and_moves_as_much) {
  const RunResult fetched = copy_fed("fetched");
  const RunResult pushed = copy_fed("pushed");
  EXPECT_NE(operator_named(fetched, "staging"), nullptr);
  EXPECT_NE(operator_named(fetched, "barrier"), nullptr);
  EXPECT_EQ(operator_named(pushed, "staging"), nullptr);
  EXPECT_EQ(operator_named(pushed, "barrier"), nullptr);
  for (const RunResult* result : {&fetched, &pushed}) {
    EXPECT_EQ(operator_named(*result, "copy engines")->sent, bytes(4 * 3 * 1024 * 8192));
  }
  // The kernel does not wait for them, and what has come is multiplied next.
  EXPECT_LT(operator_named(pushed, "fused")->first_start,
            operator_named(fetched, "fused")->first_start);
  EXPECT_LT(pushed.time, fetched.time);
}

}  // namespace
}  // namespace weft::brought_input_test
