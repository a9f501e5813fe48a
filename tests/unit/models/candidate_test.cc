// Uneven pairs of several layers as one row.
#include "sim/models/candidate.h"

#include <gtest/gtest.h>

namespace weft::candidate_test {
namespace {

Candidate uneven(std::int64_t times, Duration bulk, Duration fused) {
  Candidate pair;
  pair.name = "gather + exchange";
  pair.is_uneven = true;
  pair.times = times;
  pair.bulk = bulk;
  pair.fused = fused;
  return pair;
}

// (2 x 100 + 1 x 160) / 3, (2 x 80 + 1 x 110) / 3.
TEST(Candidates, uneven_ones_of_a_name_are_one_with_their_mean_times) {
  Candidate even = uneven(1, microseconds(50), microseconds(40));
  even.is_uneven = false;
  Candidate refused = uneven(1, {}, {});
  refused.obstacle = "would have to send its own result";
  const std::vector<Candidate> kinds =
      by_kind({uneven(2, microseconds(100), microseconds(80)), even, refused,
               uneven(1, microseconds(160), microseconds(110)), even});
  ASSERT_EQ(kinds.size(), 4U);
  EXPECT_EQ(kinds[0].times, 3);
  EXPECT_EQ(kinds[0].bulk, microseconds(120));
  EXPECT_EQ(kinds[0].fused, microseconds(90));
  EXPECT_EQ(kinds[0].chunked, Duration{});
  EXPECT_EQ(kinds[1].times, 1);
  EXPECT_EQ(kinds[2].obstacle, refused.obstacle);
}

// 100 us are not the time of a pair of which one half has none.
TEST(Candidates, a_mode_that_suits_some_of_them_has_no_time) {
  Candidate first = uneven(1, microseconds(100), microseconds(80));
  first.role_split = microseconds(90);
  const std::vector<Candidate> kinds =
      by_kind({first, uneven(1, microseconds(100), microseconds(80))});
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds[0].role_split, Duration{});
}

}  // namespace
}  // namespace weft::candidate_test
