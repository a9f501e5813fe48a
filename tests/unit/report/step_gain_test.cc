// Gains as shares of the step, worked by hand, and the errors that their range comes from.
#include "sim/report/step_gain.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/unit/report/made_up_results.h"

namespace weft::step_gain_test {
namespace {

// 8 times 40 us of which fusing saves 10, in a bulk step of 1,000 us.
Candidate pair() {
  Candidate pair;
  pair.pattern = WorkloadKind::gemm_reduce_scatter;
  pair.times = 8;
  pair.bulk = microseconds(40);
  pair.chunked = microseconds(44);
  pair.fused = microseconds(30);
  return pair;
}

RunReport report() {
  RunReport report = testing::two_gpus();
  report.scenario.workload.kind = WorkloadKind::pytorch;
  testing::add_run(report, Mode::bulk, microseconds(1000), {.link = 70});
  report.candidates = {pair()};
  return report;
}

// 32 % of the step are such pairs; a quarter of that is saved, 0.118 of it more or less.
TEST(StepGain, is_a_share_of_the_step_with_a_range) {
  const std::optional<StepGain> gain = gain_of(pair(), step_of(report()));
  ASSERT_TRUE(gain);
  EXPECT_NEAR(gain->saved, 0.32 * 0.25, 1e-12);
  EXPECT_NEAR(gain->least, 0.32 * (0.25 - 0.118), 1e-12);
  EXPECT_NEAR(gain->most, 0.32 * (0.25 + 0.118), 1e-12);
  EXPECT_EQ(text_of(*gain), "-8.0 % (-11.8 to -4.2)");
}

TEST(StepGain, is_a_share_of_the_recorded_step_where_there_is_one) {
  RunReport recorded = report();
  recorded.recorded = RecordedStep{.time = microseconds(2000), .idle = {}, .unlaunched = {}};
  EXPECT_NEAR(gain_of(pair(), step_of(recorded))->saved, 0.04, 1e-12);
  EXPECT_NE(gains_text(recorded).find("of the recorded step, 2.000 ms"), std::string::npos)
      << gains_text(recorded);
  EXPECT_EQ(replay_text(recorded),
            "recorded: 2.000 ms without the host's time; bulk here: -50.0 %\n");
  // Of 2,000 us the host had launched nothing for 400, which are not simulated.
  recorded.recorded->unlaunched = microseconds(400);
  EXPECT_NEAR(gain_of(pair(), step_of(recorded))->saved, 0.05, 1e-12);
  recorded.recorded->with_host = true;
  EXPECT_NEAR(gain_of(pair(), step_of(recorded))->saved, 0.04, 1e-12);
  EXPECT_EQ(replay_text(report()), "");
  EXPECT_NE(gains_text(report()).find("of the bulk step, 1.000 ms"), std::string::npos)
      << gains_text(report());
}

TEST(StepGain, is_none_where_nothing_is_gained_or_fused_or_compared) {
  Candidate slower = pair();
  slower.fused = microseconds(41);
  EXPECT_FALSE(gain_of(slower, step_of(report())));
  Candidate refused = pair();
  refused.obstacle = "7 columns do not divide";
  EXPECT_FALSE(gain_of(refused, step_of(report())));
  RunReport fused_only = testing::two_gpus();
  testing::add_run(fused_only, Mode::fused, microseconds(1000), {.link = 70});
  EXPECT_FALSE(step_of(fused_only));
  EXPECT_FALSE(gain_of(pair(), step_of(fused_only)));
  EXPECT_EQ(gains_text(fused_only), "");
}

// 8 times 15 us that the collective adds, in 1,000.
TEST(StepGain, of_a_refused_pair_is_at_most_what_its_collective_adds) {
  Candidate refused = pair();
  refused.obstacle = "7 columns do not divide";
  EXPECT_FALSE(bound_of_refused(refused, step_of(report())));
  refused.exposed = microseconds(15);
  EXPECT_NEAR(*bound_of_refused(refused, step_of(report())), 0.12, 1e-12);
  EXPECT_FALSE(bound_of_refused(pair(), step_of(report())));
  RunReport with_refused = report();
  EXPECT_EQ(refused_text(with_refused), "");
  refused.name = "down + sum";
  with_refused.candidates.push_back(refused);
  EXPECT_EQ(
      refused_text(with_refused),
      " Of pairs that cannot be fused, down + sum could save most: at most 12.0 % of the bulk "
      "step.");
}

TEST(StepGain, says_where_no_errors_were_measured) {
  RunReport unmeasured = report();
  unmeasured.candidates[0].pattern = WorkloadKind::all_to_all_gemm;
  EXPECT_NE(gains_text(unmeasured).find("never measured"), std::string::npos);
  EXPECT_EQ(gains_text(report()).find("never measured"), std::string::npos);
  EXPECT_EQ(ratio_error(WorkloadKind::all_to_all_gemm),
            0.154);  // gemv.fused, the largest of the others
}

// "| torch.gemm_rs.triton | 32 | 0.057 | 0.118 | -0.186 | -0.059 |"
TEST(StepGain, errors_are_those_of_the_table_that_validate_gives) {
  std::ifstream file(WEFT_SOURCE_DIR "/docs/accuracy.md");
  std::ostringstream read;
  read << file.rdbuf();
  int measured = 0;
  for (const KindRow& row : kKindRows) {
    const RatioError& error = row.error;
    if (error.within == 0) continue;
    ++measured;
    std::istringstream lines(read.str());
    bool found = false;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("| " + std::string(error.row) + " |")) continue;
      std::istringstream cells(line);
      std::string cell;
      for (int i = 0; i < 5; ++i) std::getline(cells, cell, '|');  // "", name, cases, median, 90 %
      found = found || (cell.find('%') == std::string::npos && std::stod(cell) == error.within);
    }
    EXPECT_TRUE(found) << error.row << " " << error.within;
  }
  EXPECT_EQ(measured, 5);
}

}  // namespace
}  // namespace weft::step_gain_test
