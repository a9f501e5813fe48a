#include "sim/gpu_model/power_law.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::power_law_test {
namespace {

// An eighth of the limit idle; a step of GEMMs alone would take 9/8 of it, one of copies 5/8.
constexpr PowerSpec kPower{.idle = 0.125, .matrix = 1, .memory = 0.5, .exponent = 3};

// Alone, of a step of 1 s: m / T = c, so 1/8 + c^3 = 1, and c = (7/8)^(1/3) = 0.9565.
TEST(PowerLaw, gemms_alone_settle_where_their_power_is_the_limit) {
  const double clock = sustained_clock(kPower, {.time = 1, .matrix = 1, .memory = 0}, 1);
  EXPECT_NEAR(clock, std::cbrt(7.0 / 8), 1e-9);
}

// 1/8 + 0.75 = 0.875 of the limit.
TEST(PowerLaw, a_step_that_computes_three_quarters_of_its_time_keeps_its_clock) {
  EXPECT_EQ(sustained_clock(kPower, {.time = 1, .matrix = 0.75, .memory = 0}, 1), 1);
}

// The rest of the time copies: 1/8 + 0.75 + 0.5 / 4 is the limit exactly; a little more is above.
TEST(PowerLaw, what_the_memory_takes_is_not_there_for_the_gemms) {
  EXPECT_EQ(sustained_clock(kPower, {.time = 1, .matrix = 0.75, .memory = 0.25}, 1), 1);
  EXPECT_LT(sustained_clock(kPower, {.time = 1, .matrix = 0.76, .memory = 0.25}, 1), 1);
}

// The same work seen at another clock: a step of 1 s at full clock takes 1 + 0.9 (1 / 0.9 - 1) s.
TEST(PowerLaw, finds_the_same_clock_from_a_run_at_any_clock) {
  const StepLoad full{.time = 1, .matrix = 0.9, .memory = 0.3};
  const StepLoad slow{.time = 1 + 0.9 * (1 / 0.9 - 1), .matrix = 0.9, .memory = 0.3};
  EXPECT_NEAR(sustained_clock(kPower, full, 1), sustained_clock(kPower, slow, 0.9), 1e-9);
}

// GEMMs alone have 9/8 of the limit. Idle before, their mean power is the limit after
// window x ln((9/8 - 1/8) / (9/8 - 1)) = window x ln 8.
TEST(PowerLaw, a_gpu_that_was_idle_keeps_its_clock_until_its_mean_power_is_the_limit) {
  PowerSpec power = kPower;
  power.window = microseconds(100'000);
  const double until = 0.1 * std::log(8);
  const StepLoad fits{.time = until / 2 - 1e-9, .matrix = until / 2 - 1e-9, .memory = 0};
  EXPECT_EQ(clock_after_pause(power, fits, 1, 2), 1);
  const StepLoad longer{.time = until / 2 + 1e-6, .matrix = until / 2 + 1e-6, .memory = 0};
  EXPECT_LT(clock_after_pause(power, longer, 1, 2), 1);
  EXPECT_GT(clock_after_pause(power, longer, 1, 2), 0.9999);
}

// Four steps of `until / 2`: two at clock 1, two at the sustained one, c: a step takes
// (1 + 1 / c) / 2 times as long.
TEST(PowerLaw, after_that_it_has_the_sustained_clock) {
  PowerSpec power = kPower;
  power.window = microseconds(100'000);
  const double half = 0.05 * std::log(8);
  const StepLoad load{.time = half, .matrix = half, .memory = 0};
  const double sustained = sustained_clock(power, load, 1);
  EXPECT_NEAR(clock_after_pause(power, load, 1, 4), 2 / (1 + 1 / sustained), 1e-9);
  power.window = {};
  EXPECT_NEAR(clock_after_pause(power, load, 1, 4), sustained, 1e-9);
}

TEST(PowerLaw, at_half_its_clock_a_gpu_computes_half_as_fast_and_its_memory_is_the_same) {
  GpuSpec gpu;
  gpu.bf16_matrix = gigaflops(1000);
  gpu.fp32_vector = gigaflops(100);
  gpu.memory.bandwidth = gigabytes_per_second(1000);
  gpu.library_gemm = LibraryGemmSpec{.load = gigabytes_per_second(100),
                                     .store = gigabytes_per_second(40),
                                     .start = nanoseconds(500),
                                     .sum = microseconds(3)};
  gpu.fp8_matrix = FlopRate::from_count(4'000'000'000);
  const GpuSpec slow = at_clock(gpu, 0.5);
  EXPECT_EQ(slow.fp8_matrix, FlopRate::from_count(2'000'000'000));
  EXPECT_EQ(slow.bf16_matrix, gigaflops(500));
  EXPECT_EQ(slow.fp32_vector, gigaflops(50));
  EXPECT_EQ(slow.library_gemm->load, gigabytes_per_second(50));
  EXPECT_EQ(slow.library_gemm->store, gigabytes_per_second(20));
  EXPECT_EQ(slow.library_gemm->start, nanoseconds(1000));
  EXPECT_EQ(slow.memory.bandwidth, gpu.memory.bandwidth);
  gpu.power = PowerSpec{.gemm_clock = 0.8};
  EXPECT_EQ(at_clock(gpu, 0.5).power->gemm_clock, 0.4);
}

// clock(x) = 0.8 x^(-1/3), at most 1: 0.8 for x = 1, 0.9 for (8/9)^3, 1 from x = 0.8^3 = 0.512 on.
TEST(PowerLaw, channels_beside_arithmetic_have_the_clock_that_it_leaves) {
  PowerSpec power = kPower;
  power.gemm_clock = 0.8;
  const ClockBeside clock(power);
  ASSERT_TRUE(clock.falls());
  const auto stretch = [&](double share) {
    const double units = share * (1U << ClockBeside::kShareBits);
    return static_cast<double>(clock.at(static_cast<std::uint64_t>(units))) /
           (1U << ClockBeside::kUnitBits);
  };
  EXPECT_NEAR(stretch(1), 1.25, 1e-6);
  EXPECT_NEAR(stretch(2), 1.25, 1e-6);                         // fp8, at twice the rate
  EXPECT_NEAR(stretch(std::pow(8.0 / 9, 3)), 1 / 0.9, 0.002);  // steps of 1/256
  EXPECT_EQ(stretch(0.5), 1);
  EXPECT_EQ(stretch(0), 1);
  EXPECT_FALSE(ClockBeside(kPower).falls());
  EXPECT_FALSE(ClockBeside(std::nullopt).falls());
}

// clock(x) = 0.8 x^(-1/5): a GEMM at the library's rate gains (1/2)^(-1/5) on half of the CUs, and
// no more than 1 / 0.8 on fewer than 0.8^5 of them. At 0.8^5 of that rate the clock is the highest.
TEST(PowerLaw, a_short_gemm_is_faster_on_few_cus) {
  GpuSpec gpu;
  gpu.library_gemm.emplace().efficiency = 0.5;
  EXPECT_EQ(gain_of_few_cus(gpu, 0.5, 0.5), 1);  // of other GPUs nothing is known
  gpu.power = kPower;
  EXPECT_EQ(gain_of_few_cus(gpu, 0.5, 0.5), 1);
  gpu.power->short_clock = 0.8;
  EXPECT_DOUBLE_EQ(gain_of_few_cus(gpu, 0.5, 1), 1);
  EXPECT_DOUBLE_EQ(gain_of_few_cus(gpu, 0.5, 0.5), std::pow(2, 0.2));
  EXPECT_DOUBLE_EQ(gain_of_few_cus(gpu, 0.5, 0.01), 1.25);
  EXPECT_DOUBLE_EQ(gain_of_few_cus(gpu, 0.5 * std::pow(0.8, 5), 0.5), 1);
}

}  // namespace
}  // namespace weft::power_law_test
