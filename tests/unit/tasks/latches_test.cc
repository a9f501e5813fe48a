// Latches of any target, which are stored by its size.
#include "sim/tasks/latches.h"

#include <gtest/gtest.h>

namespace weft::latches_test {
namespace {

TEST(Latches, have_the_targets_that_they_were_added_with) {
  Latches latches;
  const std::vector<std::uint32_t> targets = {1, 254, 255, 256, 7, 2'000'000'000, 255, 1};
  for (const std::uint32_t target : targets) latches.push_back({.target = target});
  std::vector<std::uint32_t> found;
  for (const Latch& latch : latches) found.push_back(latch.target);
  EXPECT_EQ(found, targets);
}

TEST(Latches, are_numbered_as_they_are_added) {
  Latches latches;
  EXPECT_EQ(latches.next_id(), LatchId(0));
  EXPECT_EQ(latches.push_back({.target = 3, .first_send = 10}), LatchId(0));
  EXPECT_EQ(latches.push_back({.target = 4, .first_send = 20}), LatchId(1));
  EXPECT_EQ(latches[LatchId(0)].target, 3U);
  EXPECT_EQ(latches[LatchId(1)].first_send, 20U);
  EXPECT_EQ(latches.first_send(LatchId(0)), 10U);
}

}  // namespace
}  // namespace weft::latches_test
