// What reports say of a pipeline's stages, from made-up results.
#include "sim/report/stages.h"

#include <gtest/gtest.h>

#include "tests/unit/report/made_up_results.h"

namespace weft::stages_test {
namespace {

// 100 us on two GPUs: the first computes for 60 us and waits for 20 us, the second for 70 and 5.
RunReport two_stages() {
  RunReport report = testing::two_gpus();
  report.scenario.workload.kind = WorkloadKind::transformer;
  TransformerSpec& spec = report.scenario.workload.transformer;
  report.scenario.workload.phase = Phase::training;
  spec.parallel.pipeline = 2;
  spec.sequences = 3;
  spec.microbatch = 1;
  RunResult& result = testing::add_run(report, Mode::bulk, microseconds(100), {.link = 70});
  result.gpus.resize(2);
  result.gpus[0].computing = microseconds(60);
  result.gpus[0].active = microseconds(80);
  result.gpus[1].computing = microseconds(70);
  result.gpus[1].active = microseconds(75);
  return report;
}

TEST(Stages, have_what_their_gpus_do_and_the_rest_is_idle) {
  EXPECT_EQ(stages_csv(two_stages()),
            "mode,stage,computing_us,exposed_us,idle_us\n"
            "bulk,0,60,20,20\n"
            "bulk,1,70,5,25\n");
}

TEST(Stages, are_shown_by_mode) {
  EXPECT_EQ(stages_table(two_stages()),
            "stage   bulk\n"
            "0       60.000 us + 20.000 us exposed + 20.000 us idle\n"
            "1       70.000 us + 5.000 us exposed + 25.000 us idle\n"
            // 1 / (3 + 1)
            "bubble of 1f1b, 2 stages and 3 microbatches, if all took as long: 25 %\n\n");
}

TEST(Stages, of_many_the_first_and_last_eight_are_shown) {
  RunReport report = two_stages();
  report.scenario.workload.transformer.parallel.pipeline = 20;
  report.runs[0].result.gpus.assign(20, {});
  const std::string text = stages_table(report);
  EXPECT_NE(text.find("\n7 "), std::string::npos) << text;
  EXPECT_EQ(text.find("\n8 "), std::string::npos) << text;
  EXPECT_NE(text.find("\n12 "), std::string::npos) << text;
  EXPECT_NE(text.find("\n19 "), std::string::npos) << text;
}

TEST(Stages, are_those_of_pipelines) {
  RunReport report = two_stages();
  report.scenario.workload.transformer.parallel.pipeline = 1;
  EXPECT_EQ(stages_table(report), "");
  EXPECT_FALSE(has_stages(report.scenario));
}

}  // namespace
}  // namespace weft::stages_test
