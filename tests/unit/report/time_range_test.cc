// How sure a time is: worked examples of the formula in time_range.h.
#include "sim/report/time_range.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::time_range_test {
namespace {

OperatorUse critical(Law law, std::int64_t us) {
  OperatorUse use;
  use.law = law;
  use.critical = microseconds(us);
  return use;
}

RunResult result_of(std::int64_t us, std::vector<OperatorUse> operators) {
  RunResult result;
  result.time = microseconds(us);
  result.operators = std::move(operators);
  return result;
}

LawErrors errors(Law law, LawError error) {
  LawErrors all;
  all[static_cast<std::size_t>(law)] = error;
  return all;
}

// One GEMM of 100 us, of which 80 % take 0.9 to 1.2 times what is said, half up to 1.05: 90 to 120.
TEST(TimeRange, of_one_operator_is_that_of_its_law) {
  const TimeRange range = range_of(result_of(100, {critical(Law::gemm, 100)}),
                                   errors(Law::gemm, {.low = 0.9, .median = 1.05, .high = 1.2}));
  EXPECT_NEAR(range.low_us, 90, 1e-9);
  EXPECT_NEAR(range.high_us, 120, 1e-9);
}

// Two GEMMs of 50 us: half of the variance is common, 100^2, half each one's own, 50^2 + 50^2:
// +- 0.1 x sqrt((10,000 + 5,000) / 2) = 8.66 us.
TEST(TimeRange, of_several_operators_is_narrower) {
  const TimeRange range =
      range_of(result_of(100, {critical(Law::gemm, 50), critical(Law::gemm, 50)}),
               errors(Law::gemm, {.low = 0.9, .median = 1, .high = 1.1}));
  EXPECT_NEAR(range.high_us, 100 + 0.1 * std::sqrt(7'500), 1e-9);
  EXPECT_NEAR(range.low_us, 100 - 0.1 * std::sqrt(7'500), 1e-9);
}

// Laws are independent: 60 us +- 10 % and 80 us +- 10 %: sqrt(6^2 + 8^2) = 10 us.
TEST(TimeRange, of_several_laws_adds_squares) {
  LawErrors both = errors(Law::gemm, {.low = 0.9, .median = 1, .high = 1.1});
  both[static_cast<std::size_t>(Law::collective)] = {.low = 0.9, .median = 1, .high = 1.1};
  const TimeRange range =
      range_of(result_of(140, {critical(Law::gemm, 60), critical(Law::collective, 80)}), both);
  EXPECT_NEAR(range.low_us, 130, 1e-9);
  EXPECT_NEAR(range.high_us, 150, 1e-9);
}

// What is on the critical path in no operator is launches: 30 of 100 us, +- 20 %.
TEST(TimeRange, counts_what_is_between_operators_as_launches) {
  const TimeRange range = range_of(result_of(100, {critical(Law::gemm, 70)}),
                                   errors(Law::launch, {.low = 0.8, .median = 1, .high = 1.2}));
  EXPECT_NEAR(range.low_us, 94, 1e-9);
  EXPECT_NEAR(range.high_us, 106, 1e-9);
}

OperatorUse named(const char* name, Law law, std::int64_t us) {
  OperatorUse use = critical(law, us);
  use.name = name;
  return use;
}

// Whatever a GEMM takes, it takes in both: of 100 and 100 us nothing is open.
TEST(SpeedupRange, of_the_same_operators_is_sure) {
  const RunResult run = result_of(100, {named("gemm", Law::gemm, 100)});
  const SpeedupRange range =
      speedup_range_of(run, run, errors(Law::gemm, {.low = 0.5, .median = 1, .high = 2}));
  EXPECT_DOUBLE_EQ(range.low, 1);
  EXPECT_DOUBLE_EQ(range.high, 1);
}

// 60 us of GEMM in 100 us of bulk, none in 80 us fused: 0.6 of what GEMMs are off by, up and down.
TEST(SpeedupRange, of_other_operators_has_their_share) {
  const RunResult bulk =
      result_of(100, {named("gemm", Law::gemm, 60), named("sum", Law::collective, 40)});
  const RunResult fused = result_of(80, {named("gemm + sum", Law::fused, 80)});
  const SpeedupRange range =
      speedup_range_of(bulk, fused, errors(Law::gemm, {.low = 0.8, .median = 1, .high = 1.1}));
  EXPECT_NEAR(range.low, 1.25 * std::pow(0.8, 0.6), 1e-9);
  EXPECT_NEAR(range.high, 1.25 * std::pow(1.1, 0.6), 1e-9);
}

// If fused kernels take longer, the speed-up is less.
TEST(SpeedupRange, turns_round_what_is_in_the_faster_mode_alone) {
  const RunResult bulk = result_of(100, {named("sum", Law::collective, 100)});
  const RunResult fused = result_of(80, {named("gemm + sum", Law::fused, 80)});
  const SpeedupRange range =
      speedup_range_of(bulk, fused, errors(Law::fused, {.low = 0.8, .median = 1, .high = 1.1}));
  EXPECT_NEAR(range.low, 1.25 / 1.1, 1e-9);
  EXPECT_NEAR(range.high, 1.25 / 0.8, 1e-9);
}

// An operator of 50 us in 100 us and in 75 us: shares of 1/2 and 2/3 differ by 1/6 of what it is
// off.
TEST(SpeedupRange, of_an_operator_in_both_has_the_difference_of_its_shares) {
  const RunResult bulk =
      result_of(100, {named("other", Law::gemm, 50), named("sum", Law::collective, 50)});
  const RunResult fused =
      result_of(75, {named("other", Law::gemm, 50), named("pair", Law::fused, 25)});
  const SpeedupRange range =
      speedup_range_of(bulk, fused, errors(Law::gemm, {.low = 0.8, .median = 1, .high = 1.1}));
  EXPECT_NEAR(range.high, 100. / 75 * std::pow(0.8, -1. / 6), 1e-9);
  EXPECT_NEAR(range.low, 100. / 75 * std::pow(1.1, -1. / 6), 1e-9);
}

TEST(TimeRange, takes_recorded_times_as_they_are) {
  LawErrors all;
  all.fill({.low = 0.5, .median = 2, .high = 3});
  const TimeRange range = range_of(result_of(100, {critical(Law::recorded, 100)}), all);
  EXPECT_EQ(range.low_us, 100);
  EXPECT_EQ(range.high_us, 100);
}

}  // namespace
}  // namespace weft::time_range_test
