// Rows of tables in a cache of whole rows.
#include "sim/cache/rows.h"

#include <gtest/gtest.h>

namespace weft::cache {
namespace {

TEST(RowCache, finds_a_row_that_it_was_asked_for) {
  RowCache cache(16);
  EXPECT_FALSE(cache.look_up(7));
  EXPECT_TRUE(cache.look_up(7));
}

TEST(RowCache, drops_the_row_whose_last_use_is_longest_ago) {
  RowCache cache(16);  // one set
  for (std::uint64_t row = 0; row < 16; ++row) cache.look_up(row);
  EXPECT_TRUE(cache.look_up(0));
  EXPECT_FALSE(cache.look_up(16));  // in place of 1
  EXPECT_TRUE(cache.look_up(0));
  EXPECT_FALSE(cache.look_up(1));
}

TEST(RowCache, of_no_rows_keeps_none) {
  RowCache cache(0);
  cache.look_up(7);
  EXPECT_FALSE(cache.look_up(7));
}

TEST(RowCache, of_fewer_rows_than_a_set_is_one_set) {
  RowCache cache(1);
  for (std::uint64_t row = 0; row < 16; ++row) cache.look_up(row);
  EXPECT_TRUE(cache.look_up(0));
}

}  // namespace
}  // namespace weft::cache
