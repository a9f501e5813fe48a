#include "sim/measured/errors.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::errors_test {
namespace {

Outcome outcome(const std::string& kind, double measured, double predicted) {
  Outcome one;
  one.line.kind = kind;
  one.line.us = measured;
  one.line.numbers = {{"gpus", 4}};
  one.predicted_us = predicted;
  return one;
}

// |errors| 1 2 3 4: the median is between 2 and 3; 90 % of 4 are 3.6, so 4 of them; the mean with
// signs is (1 - 2 + 3 - 4) / 4.
TEST(Errors, summary_of_four) {
  const ErrorSummary four = summarise("x", {0.01, -0.02, 0.03, -0.04});
  EXPECT_DOUBLE_EQ(four.median, 0.025);
  EXPECT_DOUBLE_EQ(four.p90, 0.04);
  EXPECT_DOUBLE_EQ(four.worst, -0.04);
  EXPECT_DOUBLE_EQ(four.bias, -0.005);
}

// Of ten, nine do not exceed the ninth.
TEST(Errors, ninety_per_cent_of_ten_are_nine) {
  const ErrorSummary ten = summarise("x", {.1, .2, .3, .4, .5, .6, .7, .8, .9, 5.0});
  EXPECT_DOUBLE_EQ(ten.p90, 0.9);
  EXPECT_DOUBLE_EQ(ten.median, 0.55);
}

// Measured 80 of 100, predicted 90 of 120: 0.75 - 0.8.
TEST(Errors, ratio_of_fused_to_bulk) {
  const ErrorReport report =
      report_errors({outcome("emb.bulk", 100, 120), outcome("emb.fused", 80, 90)});
  ASSERT_EQ(report.ratios.size(), 1U);
  EXPECT_DOUBLE_EQ(report.ratios[0].measured, 0.8);
  EXPECT_DOUBLE_EQ(report.ratios[0].predicted, 0.75);
  EXPECT_NEAR(report.of_ratios.back().bias, -0.05, 1e-12);
}

TEST(Errors, kinds_in_the_order_of_their_first_lines_and_all_at_the_end) {
  const ErrorReport report = report_errors(
      {outcome("gemv.bulk", 1, 1), outcome("emb.bulk", 1, 1.5), outcome("gemv.bulk", 1, 2)});
  ASSERT_EQ(report.by_kind.size(), 3U);
  EXPECT_EQ(report.by_kind[0].of, "gemv.bulk");
  EXPECT_EQ(report.by_kind[0].cases, 2U);
  EXPECT_EQ(report.by_kind[1].of, "emb.bulk");
  EXPECT_EQ(report.by_kind[2].of, "all");
  EXPECT_DOUBLE_EQ(report.by_kind[2].median, 0.5);
}

TEST(Errors, json_and_csv_hold_every_case) {
  const ErrorReport report =
      report_errors({outcome("emb.bulk", 100, 120), outcome("emb.fused", 80, 90)});
  const auto json = nlohmann::json::parse(error_json(report, {"cluster.gpus_per_node=4"}));
  EXPECT_EQ(json["set"][0], "cluster.gpus_per_node=4");
  EXPECT_EQ(json["cases"].size(), 2U);
  EXPECT_EQ(json["cases"][1]["predicted_us"], 90);
  EXPECT_EQ(json["error_by_kind"]["all"]["cases"], 2);
  EXPECT_EQ(error_csv(report),
            "kind,case,measured_us,predicted_us,error\n"
            "emb.bulk,\"gpus 4\",100,120,0.19999999999999996\n"
            "emb.fused,\"gpus 4\",80,90,0.125\n");
}

}  // namespace
}  // namespace weft::errors_test
