// What reports say of whole models, from made-up results.
#include <gtest/gtest.h>

#include "sim/report/model.h"
#include "tests/unit/report/made_up_results.h"

namespace weft::model_report_test {
namespace {

// Two GPUs, 100 us: 120 us of computing and 60 us of waiting together, 20 us of nothing.
RunReport report_of_a_model() {
  RunReport report = testing::two_gpus();
  report.scenario.workload.kind = WorkloadKind::transformer;
  RunResult& result = testing::add_run(report, Mode::bulk, microseconds(100), {.link = 70});
  result.parts = {{.name = "sum", .computing = {}, .exposed = microseconds(60)},
                  {.name = "mlp", .computing = microseconds(120), .exposed = {}}};
  result.idle = microseconds(20);
  return report;
}

TEST(ModelReport, parts_are_means_over_gpus_the_longest_first_and_idle_last) {
  const RunReport report = report_of_a_model();
  const std::vector<PartTime> times = part_times(report.runs[0].result);
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times[0].name, "mlp");
  EXPECT_EQ(times[0].computing, microseconds(60));
  EXPECT_EQ(times[1].name, "sum");
  EXPECT_EQ(times[1].exposed, microseconds(30));
  EXPECT_EQ(times[2].name, "idle");
  EXPECT_EQ(times[2].exposed, microseconds(10));
  EXPECT_EQ(parts_csv(report),
            "mode,part,computing_us,exposed_us\n"
            "bulk,mlp,60,0\n"
            "bulk,sum,0,30\n"
            "bulk,idle,0,10\n");
}

TEST(ModelReport, pairs_say_what_they_gain_or_why_they_cannot) {
  RunReport report = report_of_a_model();
  Candidate good;
  good.name = "down + sum";
  good.pattern = WorkloadKind::gemm_all_reduce;
  good.times = 8;
  good.bulk = microseconds(40);
  good.chunked = microseconds(44);
  good.fused = microseconds(30);
  good.wgs_per_cu_bulk = 4;
  good.wgs_per_cu_fused = 3;
  Candidate bad = good;
  bad.name = "up + sum";
  bad.obstacle = "7 columns do not divide";
  report.candidates = {good, bad};
  const std::string text = fusions_table(report);
  EXPECT_NE(text.find("-25.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("3, not 4"), std::string::npos) << text;
  EXPECT_NE(text.find("7 columns do not divide"), std::string::npos) << text;
}

// role_split and copy_fed have columns where they were tried; a pair that one of them does not suit
// has a dash there.
TEST(ModelReport, pairs_have_a_column_for_every_mode_that_was_tried) {
  RunReport report = report_of_a_model();
  Candidate pair;
  pair.name = "down + sum";
  pair.bulk = microseconds(40);
  pair.fused = microseconds(30);
  report.candidates = {pair, pair};
  const auto has = [&](const char* words) {
    return fusions_table(report).find(words) != std::string::npos;
  };
  EXPECT_FALSE(has("role_split") || has("copy_fed") || has("pipelined")) << fusions_table(report);
  report.candidates[0].role_split = microseconds(20);
  EXPECT_TRUE(has("role_split")) << fusions_table(report);
  EXPECT_TRUE(has("-25.0 %   20.000 us    role_split")) << fusions_table(report);
  EXPECT_TRUE(has("-25.0 %   -            fused")) << fusions_table(report);
  EXPECT_FALSE(has("copy_fed") || has("pipelined")) << fusions_table(report);
  report.candidates[1].copy_fed = microseconds(10);
  EXPECT_TRUE(has("10.000 us   copy_fed")) << fusions_table(report);
}

}  // namespace
}  // namespace weft::model_report_test
