#include "sim/report/baseline.h"

#include <gtest/gtest.h>

#include "tests/unit/report/made_up_results.h"

namespace weft::baseline_test {
namespace {

RunReport report_with_collectives() {
  RunReport report = testing::two_gpus();
  RunResult& bulk = testing::add_run(report, Mode::bulk, microseconds(900), {});
  bulk.operators.clear();
  for (const char* name : {"all_to_all (direct, ll)", "all_to_all (direct, ll)"}) {
    OperatorUse use;
    use.name = use.part = name;
    use.role = KernelRole::collective;
    bulk.operators.push_back(use);
  }
  return report;
}

TEST(Baseline, names_collectives_once_and_how_they_go) {
  const RunReport report = report_with_collectives();
  EXPECT_EQ(baseline_text(report, report.runs.front().result),
            "the scenario's own lookups; all_to_all (direct, ll)");
}

TEST(Baseline, names_a_preset_of_kernels) {
  RunReport report = report_with_collectives();
  report.inputs.push_back({.path = "configs/kernels/lookups_pytorch.yaml", .hash = ""});
  EXPECT_EQ(baseline_text(report, report.runs.front().result),
            "kernels/lookups_pytorch; all_to_all (direct, ll)");
}

// Many operators of a model are one part.
TEST(Baseline, names_a_models_collectives_by_their_part) {
  RunReport report = report_with_collectives();
  OperatorUse& use = report.runs.front().result.operators.front();
  use.name = "mlp_down_reduce (ring, ll)";
  use.part = "all_reduce";
  report.scenario.workload.kind = WorkloadKind::transformer;
  EXPECT_EQ(baseline_text(report, report.runs.front().result),
            "all_reduce (ring, ll); all_to_all (direct, ll)");
}

TEST(Baseline, the_best_that_fuses_is_the_fastest_of_all_techniques) {
  RunReport report = testing::two_gpus();
  testing::add_run(report, Mode::bulk, microseconds(100), {});
  EXPECT_EQ(best_fused(report), nullptr);
  testing::add_run(report, Mode::fused, microseconds(300), {});
  testing::add_run(report, Mode::role_split, microseconds(200), {});
  testing::add_run(report, Mode::copy_fed, microseconds(250), {});
  EXPECT_EQ(best_fused(report), find_run(report, Mode::role_split));
}

}  // namespace
}  // namespace weft::baseline_test
