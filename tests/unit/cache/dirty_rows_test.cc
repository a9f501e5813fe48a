#include "sim/cache/dirty_rows.h"

#include <gtest/gtest.h>

namespace weft::cache {
namespace {

// Two lists of ten rows, of which two each may be dirty.
DirtyRows two_lists() { return {2, 10, 2}; }

TEST(DirtyRows, the_row_written_longest_ago_makes_room) {
  DirtyRows rows = two_lists();
  rows.mark(3, 0, 100);
  rows.mark(4, 0, 200);
  rows.mark(3, 1, 300);  // so that row 4 is the older one
  EXPECT_EQ(rows.in_the_way(5), 4U);
  EXPECT_EQ(rows.oldest(0), 4U);
  EXPECT_EQ(rows.written_at(3), 300);
}

TEST(DirtyRows, a_row_that_is_marked_needs_no_room) {
  DirtyRows rows = two_lists();
  rows.mark(3, 0, 100);
  EXPECT_EQ(rows.in_the_way(4), std::nullopt);
  rows.mark(4, 0, 100);
  EXPECT_EQ(rows.in_the_way(3), std::nullopt);
}

TEST(DirtyRows, lists_share_no_room) {
  DirtyRows rows = two_lists();
  rows.mark(3, 0, 100);
  rows.mark(4, 0, 100);
  EXPECT_EQ(rows.in_the_way(13), std::nullopt);
  EXPECT_EQ(rows.oldest(1), std::nullopt);
}

TEST(DirtyRows, what_is_taken_was_marked_and_is_no_longer) {
  DirtyRows rows = two_lists();
  rows.mark(3, 0, 100);
  rows.mark(4, 63, 100);
  rows.mark(3, 5, 200);
  EXPECT_EQ(rows.take(3), 0b100001U);
  EXPECT_EQ(rows.oldest(0), 4U);
  EXPECT_EQ(rows.in_the_way(6), std::nullopt);
  EXPECT_EQ(rows.take(4), std::uint64_t{1} << 63U);
  EXPECT_EQ(rows.oldest(0), std::nullopt);
}

}  // namespace
}  // namespace weft::cache
