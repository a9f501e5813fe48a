// Transfers and what computes beside them.
#include "sim/models/beside.h"

#include <gtest/gtest.h>

namespace weft::beside_test {
namespace {

// A layer of 100 us and a transfer of 50 us begin together and end after 110 and 60 us. The
// transfer was beside the layer all the time: 60 / 50. In the first 60 us the layer has done what
// takes 50 us alone, as it needed 50 us more: 60 / 50, too.
TEST(Slowdown, is_what_both_lose_while_they_are_together) {
  const MutualSlowdown slowdown =
      slowdown_from({.transfer = microseconds(60), .computing = {microseconds(110)}},
                    {.transfer = microseconds(50), .computing = {microseconds(100)}});
  EXPECT_EQ(slowdown.transfer, kAsAlone * 60 / 50);
  EXPECT_EQ(slowdown.computing, std::vector<Slowdown>{kAsAlone * 60 / 50});
}

// Kept out of all CUs until the layer has ended, a transfer gets on at a small pace, not at none.
TEST(Slowdown, of_what_does_nothing_meanwhile_is_bounded) {
  const MutualSlowdown slowdown =
      slowdown_from({.transfer = microseconds(150), .computing = {microseconds(100)}},
                    {.transfer = microseconds(50), .computing = {microseconds(100)}});
  EXPECT_EQ(slowdown.transfer, 64 * kAsAlone);
  EXPECT_EQ(slowdown.computing, std::vector<Slowdown>{kAsAlone});
}

}  // namespace
}  // namespace weft::beside_test
