// Every operator that weft makes follows a law: which, by scenario.
#include "sim/models/law_of.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <variant>

#include "sim/run/scenario_run.h"
#include "sim/scenario/load.h"
#include "tests/sanitized.h"

namespace weft::law_of_test {
namespace {

using Laws = std::map<std::string, std::set<Law>>;  // by name of an operator

Laws laws_of(const std::string& scenario, const std::vector<std::string>& sets = {}) {
  const std::string root = WEFT_SOURCE_DIR;
  const Loaded loaded = load_scenario(root + "/configs/scenarios/" + scenario + ".yaml",
                                      {.sets = sets, .config_dirs = {root + "/configs"}});
  EXPECT_EQ(loaded.problems.has_errors(), false) << loaded.problems.to_text();
  ScenarioRun run(loaded);
  Laws laws;
  const auto outcome = run.run("");
  for (const ModeRun& mode : std::get<RunReport>(outcome).runs) {
    for (const OperatorUse& use : mode.result.operators) laws[use.name].insert(use.law);
  }
  return laws;
}

TEST(LawOf, is_none_of_a_recording_where_nothing_is_recorded) {
  if (kSanitized) GTEST_SKIP() << "minutes with sanitizers; other builds run it";
  for (const auto& [scenario, sets] : std::map<std::string, std::vector<std::string>>{
           {"embedding_a2a_2_nodes", {}},
           {"gemm_rs_4_gpus", {"modes=[bulk, kernel, pipelined, fused, role_split, copy_fed]"}},
           {"ag_gemm_4_gpus", {"modes=[bulk, kernel, pipelined, fused, role_split, copy_fed]"}},
           {"c3/mi300x", {}},
           {"all_reduce_8x_mi300x", {}},
           {"models/llama3_70b_decode", {}},
           {"models/llama3_70b_training",
            {"modes=[bulk, fused]", "workload.model.layers=4", "workload.sequences=8",
             "workload.sequence_length=1024"}}}) {
    for (const auto& [name, laws] : laws_of(scenario, sets)) {
      EXPECT_FALSE(laws.contains(Law::recorded)) << scenario << ": " << name;
    }
  }
}

TEST(LawOf, tells_nodes_apart) {
  const Laws across = laws_of("embedding_a2a_2_nodes", {"modes=[bulk]"});
  const Laws within = laws_of("gemm_rs_4_gpus", {"modes=[bulk]"});
  EXPECT_EQ(across.at("embedding"), std::set{Law::lookup});
  EXPECT_EQ(within.at("gemm"), std::set{Law::gemm});
  for (const auto& [name, laws] : across) {
    if (name == "embedding") continue;
    EXPECT_EQ(laws, std::set{Law::between_nodes}) << name;
  }
  for (const auto& [name, laws] : within) {
    if (name == "gemm") continue;
    EXPECT_EQ(laws, std::set{Law::collective}) << name;
  }
}

}  // namespace
}  // namespace weft::law_of_test
