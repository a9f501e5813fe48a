// Quantities are exact integers, round once and upwards, and abort where 63 bits do not suffice.
#include "sim/core/quantity.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "sim/core/rng.h"

namespace weft::quantity_test {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kMost = INT64_MAX;

TEST(Quantity, units_are_exact_multiples_of_the_smallest) {
  EXPECT_EQ(nanoseconds(1), picoseconds(1'000));
  EXPECT_EQ(microseconds(1), nanoseconds(1'000));
  EXPECT_EQ(kibibytes(1), bytes(1'024));
  EXPECT_EQ(mebibytes(1), kibibytes(1'024));
  EXPECT_EQ(gigabytes_per_second(1).count(), 1'000'000'000);
  // A gigabit is 10^9 bits, 8 bits a byte.
  EXPECT_EQ(gigabits_per_second(8), gigabytes_per_second(1));
  EXPECT_EQ(gigaflops(1).count(), 1'000'000'000);
}

TEST(Quantity, times_of_odd_rates_are_exact_where_picoseconds_a_byte_would_not_be) {
  // 900 GB/s is 1.11 ps a byte: 9e9 bytes take 9e9 / 900e9 s = 10 ms, not 9 or 18 ms.
  EXPECT_EQ(transfer_time(bytes(9'000'000'000), gigabytes_per_second(900)), microseconds(10'000));
  // 3.35 TB/s is 0.3 ps a byte: 3350 bytes take 1 ns.
  EXPECT_EQ(transfer_time(bytes(3'350), gigabytes_per_second(3'350)), nanoseconds(1));
}

TEST(Quantity, a_transfer_is_rounded_up_and_never_down) {
  // 1 B at 3 B/s: 333,333,333,333.33.. ps.
  EXPECT_EQ(transfer_time(bytes(1), bytes_per_second(3)), picoseconds(333'333'333'334));
  EXPECT_EQ(transfer_time(bytes(3), bytes_per_second(3)), picoseconds(1'000'000'000'000));
  EXPECT_EQ(transfer_time(bytes(0), bytes_per_second(3)), picoseconds(0));
}

TEST(Quantity, both_ways_of_dividing_meet_at_their_border) {
  // Up to 9e6 the division is one of 64 bits, above of 128. At 1 TB/s a byte takes 1 ps.
  EXPECT_EQ(transfer_time(bytes(9'000'000), gigabytes_per_second(1'000)), picoseconds(9'000'000));
  EXPECT_EQ(transfer_time(bytes(9'000'001), gigabytes_per_second(1'000)), picoseconds(9'000'001));
}

TEST(Quantity, the_fastest_gpu_of_the_library_is_not_too_fast_for_the_short_division) {
  // configs/gpus/ideal.yaml computes 1000 PFLOP/s = 10^18 a second: 9e6 take
  // 9e6 x 10^12 / 10^18 = 9 ps. The numerator of the rounded-up division, 9e18 + 10^18 - 1, is more
  // than 2^63.
  EXPECT_EQ(compute_time(flops(9'000'000), gigaflops(1'000'000'000)), picoseconds(9));
  EXPECT_EQ(transfer_time(bytes(9'000'000), bytes_per_second(kMost)), picoseconds(1));
}

TEST(Quantity, random_transfers_equal_the_rational_number_rounded_up) {
  Rng rng(1, "test/quantity");
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t size = rng.between(0, std::int64_t{1} << rng.between(0, 40));
    const std::int64_t rate = rng.between(1 << 20, std::int64_t{1} << rng.between(20, 52));
    const Wide ps = transfer_time(bytes(size), bytes_per_second(rate)).count();
    // ps is the least integer with ps x rate >= size x 10^12.
    const Wide wanted = Wide{size} * 1'000'000'000'000;
    ASSERT_GE(ps * rate, wanted) << size << " B at " << rate;
    ASSERT_LT((ps - 1) * rate, wanted) << size << " B at " << rate;
  }
}

TEST(Quantity, the_last_value_that_fits_is_right) {
  EXPECT_EQ((picoseconds(kMost - 1) + picoseconds(1)).count(), kMost);
  EXPECT_EQ((picoseconds(-kMost) - picoseconds(1)).count(), INT64_MIN);
  EXPECT_EQ((bytes(kMost / 2) * 2).count(), kMost - 1);
  EXPECT_EQ((2 * bytes(kMost / 2)).count(), kMost - 1);
}

TEST(QuantityDeathTest, overflow_aborts_in_every_build) {
  EXPECT_DEATH((void)(picoseconds(kMost) + picoseconds(1)), "violated");
  EXPECT_DEATH((void)(picoseconds(-kMost) - picoseconds(2)), "violated");
  EXPECT_DEATH((void)(bytes(kMost / 2 + 1) * 2), "violated");
  EXPECT_DEATH((void)mebibytes(kMost / 1'000'000), "violated");
  Duration sum = picoseconds(kMost);
  EXPECT_DEATH(sum += picoseconds(1), "violated");
}

TEST(QuantityDeathTest, a_point_in_time_moves_no_further_than_it_can_be_counted) {
  EXPECT_DEATH((void)(SimTime::from_count(kMost) + picoseconds(1)), "violated");
  EXPECT_DEATH((void)(SimTime::from_count(-kMost) - picoseconds(2)), "violated");
}

TEST(QuantityDeathTest, the_distance_of_two_points_is_checked_too) {
  // 2^63 - 1 + 2 does not fit 63 bits.
  EXPECT_DEATH((void)(SimTime::from_count(kMost) - SimTime::from_count(-2)), "violated");
}

TEST(QuantityDeathTest, a_time_of_no_rate_or_of_less_than_nothing_aborts) {
  EXPECT_DEATH((void)transfer_time(bytes(1), bytes_per_second(0)), "per_second > 0");
  EXPECT_DEATH((void)transfer_time(bytes(-1), bytes_per_second(1)), "amount >= 0");
  // 2^62 bytes at 1 B/s would be 4.6e30 ps.
  EXPECT_DEATH((void)transfer_time(bytes(kMost / 2), bytes_per_second(1)), "INT64_MAX");
}

TEST(Quantity, points_move_by_durations_and_differ_by_durations) {
  const SimTime start = SimTime::from_count(500);
  SimTime end = start + nanoseconds(2);
  EXPECT_EQ(end - start, nanoseconds(2));
  EXPECT_EQ(end - nanoseconds(2), start);
  end += picoseconds(5);
  EXPECT_EQ(end.count(), 2'505);
  EXPECT_EQ(later(start, end), end);
  EXPECT_EQ(later(end, start), end);
  EXPECT_EQ(longer(picoseconds(1), picoseconds(2)), picoseconds(2));
  EXPECT_EQ(longer(picoseconds(2), picoseconds(1)), picoseconds(2));
}

TEST(Quantity, reports_see_seconds_and_microseconds) {
  EXPECT_DOUBLE_EQ(to_seconds(microseconds(1'500'000)), 1.5);
  EXPECT_DOUBLE_EQ(to_microseconds(nanoseconds(1'500)), 1.5);
}

}  // namespace
}  // namespace weft::quantity_test
