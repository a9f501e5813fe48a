// A latch during a run: closed, then open.
#include "sim/engine/latch_state.h"

#include <gtest/gtest.h>

namespace weft::latch_state_test {
namespace {

TEST(LatchState, is_to_be_opened_when_it_was_counted_down_to_nothing) {
  LatchState latch(3);
  EXPECT_FALSE(latch.count_down());
  EXPECT_FALSE(latch.count_down());
  EXPECT_EQ(latch.left(), 1U);
  EXPECT_FALSE(latch.is_open());
  EXPECT_TRUE(latch.count_down());
  latch.open(SimTime::from_count(5));
  EXPECT_TRUE(latch.is_open());
  EXPECT_EQ(latch.left(), 0U);
}

TEST(LatchState, knows_who_waits_until_it_opens) {
  LatchState latch(2);
  EXPECT_EQ(latch.waiter(), LatchState::kNobody);
  latch.await(0x80000001U);
  EXPECT_FALSE(latch.count_down());
  EXPECT_EQ(latch.waiter(), 0x80000001U);
  EXPECT_EQ(latch.left(), 1U);
  latch.await(4);
  EXPECT_TRUE(latch.count_down());
  EXPECT_EQ(latch.waiter(), 4U);
}

TEST(LatchState, knows_when_it_opened) {
  for (const std::int64_t at : {std::int64_t{0}, std::int64_t{1} << 40, INT64_MAX}) {
    LatchState latch(1);
    EXPECT_TRUE(latch.count_down());
    latch.open(SimTime::from_count(at));
    EXPECT_EQ(latch.opened(), SimTime::from_count(at));
  }
}

TEST(LatchState, holds_the_largest_count) {
  LatchState latch((1U << 31U) - 1);
  EXPECT_FALSE(latch.count_down());
  EXPECT_EQ(latch.left(), (1U << 31U) - 2);
}

TEST(LatchStateDeathTest, that_is_open_cannot_be_counted_down) {
  LatchState latch(1);
  latch.count_down();
  latch.open(SimTime{});
  EXPECT_DEATH(latch.count_down(), "left");
  EXPECT_DEATH(LatchState(1U << 31U), "is_open");
}

}  // namespace
}  // namespace weft::latch_state_test
