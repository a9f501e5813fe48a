#include "sim/report/numbers.h"

#include <gtest/gtest.h>

namespace weft::numbers_test {
namespace {

TEST(Numbers, times_choose_their_unit) {
  EXPECT_EQ(time_text(Duration{}), "0 us");
  EXPECT_EQ(time_text(nanoseconds(812)), "812 ns");
  EXPECT_EQ(time_text(picoseconds(999'499)), "999 ns");
  EXPECT_EQ(time_text(picoseconds(999'500)), "1.000 us");
  EXPECT_EQ(time_text(microseconds(1)), "1.000 us");
  EXPECT_EQ(time_text(nanoseconds(12'345'678)), "12.346 ms");
  EXPECT_EQ(time_text(microseconds(1'234'000)), "1.234 s");
}

TEST(Numbers, a_share_that_is_not_zero_is_not_shown_as_zero) {
  EXPECT_EQ(percent_text(0), "0 %");
  EXPECT_EQ(percent_text(0.001), "<1 %");
  EXPECT_EQ(percent_text(0.434), "43 %");
}

TEST(Numbers, counts_are_grouped) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1'000), "1,000");
  EXPECT_EQ(count_text(2'097'152), "2,097,152");
  EXPECT_EQ(count_text(-123'456), "-123,456");
}

TEST(Numbers, three_digits_and_a_unit) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(12'251'561'984), "12.3 GB");
  EXPECT_EQ(bytes_text(345'000'000), "345 MB");
  EXPECT_EQ(rate_text(459.4e9), "459 GB/s");
  EXPECT_EQ(large_text(23.4e6), "23.4 M");
  EXPECT_EQ(large_text(9.996e3), "10.0 k");
}

}  // namespace
}  // namespace weft::numbers_test
