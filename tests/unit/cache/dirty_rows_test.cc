#include "sim/cache/dirty_rows.h"

#include <gtest/gtest.h>

namespace weft::cache::dirty_rows_test {
namespace {

// Two lists of ten rows, of which two lines each may be dirty.
DirtyRows two_lists() { return DirtyRows({.lists = 2, .rows_of_list = 10, .most = 2}); }

TEST(DirtyRows, the_row_written_longest_ago_makes_room) {
  DirtyRows rows = two_lists();
  rows.mark(3, 0, 100);
  rows.mark(4, 0, 200);
  rows.mark(3, 0, 300);  // so that row 4 is the older one
  EXPECT_EQ(rows.in_the_way(5, 0), 4U);
  EXPECT_EQ(rows.oldest(0), 4U);
  EXPECT_EQ(rows.written_at(3), 300);
}

TEST(DirtyRows, a_line_that_is_marked_needs_no_room) {
  DirtyRows rows = two_lists();
  rows.mark(3, 0, 100);
  EXPECT_EQ(rows.in_the_way(4, 0), std::nullopt);
  rows.mark(4, 0, 200);
  EXPECT_EQ(rows.in_the_way(3, 0), std::nullopt);
  EXPECT_EQ(rows.in_the_way(4, 1), 3U);
  EXPECT_EQ(rows.in_the_way(3, 1), 3U) << "its own row is the oldest";
}

TEST(DirtyRows, lists_share_no_room) {
  DirtyRows rows = two_lists();
  rows.mark(3, 0, 100);
  rows.mark(4, 0, 100);
  EXPECT_EQ(rows.in_the_way(13, 0), std::nullopt);
  EXPECT_EQ(rows.oldest(1), std::nullopt);
}

TEST(DirtyRows, what_is_taken_was_marked_and_is_no_longer) {
  DirtyRows rows = two_lists();
  rows.mark(3, 0, 100);
  rows.mark(3, 63, 200);
  EXPECT_EQ(rows.take(3), (std::uint64_t{1} << 63U) + 1);
  EXPECT_EQ(rows.oldest(0), std::nullopt);
  EXPECT_FALSE(rows.any());
}

TEST(DirtyRows, there_is_room_again_where_a_row_was_taken) {
  DirtyRows rows = two_lists();
  rows.mark(3, 0, 100);
  rows.mark(4, 1, 200);
  rows.take(3);
  EXPECT_EQ(rows.in_the_way(5, 2), std::nullopt);
  rows.mark(5, 2, 300);
  EXPECT_EQ(rows.in_the_way(6, 0), 4U);
  EXPECT_EQ(rows.take(5), 0b100U);
  EXPECT_EQ(rows.take(4), 0b10U);
  EXPECT_FALSE(rows.any());
}

TEST(DirtyRows, have_a_quarter_of_the_lines_or_one) {
  EXPECT_EQ(DirtyRows::most_of(4096), 1024U);
  EXPECT_EQ(DirtyRows::most_of(3), 1U);
}

}  // namespace
}  // namespace weft::cache::dirty_rows_test
