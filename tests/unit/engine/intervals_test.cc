// Amounts by intervals that grow with the run.
#include "sim/engine/intervals.h"

#include <gtest/gtest.h>

namespace weft::intervals_test {
namespace {

SimTime at_ns(std::int64_t ns) { return SimTime{} + nanoseconds(ns); }

TEST(Intervals, are_twice_as_long_when_there_are_too_many) {
  Intervals amounts(1);
  EXPECT_EQ(amounts.at(at_ns(511)), 511U);
  for (std::size_t i = 0; i < 512; ++i) amounts.add(i, 0, 1);
  EXPECT_EQ(amounts.at(at_ns(512)), 256U);
  EXPECT_EQ(amounts.length(), nanoseconds(2));
  amounts.close(at_ns(513));
  ASSERT_EQ(amounts.size(), 257U);
  EXPECT_EQ(amounts.amount(0, 0), 2);
  EXPECT_EQ(amounts.amount(255, 0), 2);
  EXPECT_EQ(amounts.amount(256, 0), 0);
  EXPECT_EQ(amounts.until(256), at_ns(513));
}

// 100 from 0.5 ns to 3 ns: 20 in the first, 40 in each of the two others.
TEST(Intervals, spread_an_amount_evenly_and_lose_nothing) {
  Intervals amounts(2);
  amounts.spread(1, SimTime{} + picoseconds(500), at_ns(3) - picoseconds(1), 100);
  amounts.close(at_ns(4));
  EXPECT_EQ(amounts.amount(0, 1), 20);
  EXPECT_EQ(amounts.amount(1, 1), 40);
  EXPECT_EQ(amounts.amount(2, 1), 40);
  EXPECT_EQ(amounts.amount(3, 1), 0);
  EXPECT_EQ(amounts.amount(1, 0), 0);
}

TEST(Intervals, behind_the_end_belong_to_the_last_one) {
  Intervals amounts(1);
  amounts.spread(0, at_ns(1), at_ns(5), 8);
  amounts.close(at_ns(3));
  ASSERT_EQ(amounts.size(), 3U);
  EXPECT_EQ(amounts.amount(2, 0), 6);
}

TEST(Intervals, of_a_known_end_have_the_shortest_length_that_suffices) {
  EXPECT_EQ(Intervals::lasting(1, at_ns(511)).length(), nanoseconds(1));
  EXPECT_EQ(Intervals::lasting(1, at_ns(512)).length(), nanoseconds(2));
  Intervals none(1);
  none.close(SimTime{});
  EXPECT_EQ(none.size(), 0U);
}

}  // namespace
}  // namespace weft::intervals_test
