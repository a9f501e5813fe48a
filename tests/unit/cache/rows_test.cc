// Which rows are drawn, and which a cache of whole rows still holds.
#include "sim/cache/rows.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "sim/core/rng.h"

namespace weft::cache::rows_test {
namespace {

// How often each of the first rows is drawn, of 200,000 draws.
std::array<double, 4> shares(const Gather& gather) {
  constexpr int kDraws = 200'000;
  const RowDraw draw(gather);
  std::array<double, 4> share{};
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::int64_t row = draw.row(mix64(i));
    EXPECT_TRUE(0 <= row && row < gather.table_rows) << row;
    if (row < 4) share[static_cast<std::size_t>(row)] += 1.0 / kDraws;
  }
  return share;
}

TEST(RowDraw, asks_for_row_x_as_often_as_its_weight_says) {
  for (const double zipf : {0.0, 0.5, 1.0, 1.5, 4.0}) {
    double all = 0;
    for (int x = 1; x <= 1000; ++x) all += std::pow(x, -zipf);
    const auto share = shares({.table_rows = 1000, .zipf = zipf});
    for (std::size_t row = 0; row < 4; ++row) {
      const double p = std::pow(static_cast<double>(row + 1), -zipf) / all;
      // Four standard deviations of what is counted.
      EXPECT_NEAR(share[row], p, 4 * std::sqrt(p * (1 - p) / 200'000)) << zipf << " " << row;
    }
  }
}

TEST(RowDraw, of_few_and_of_very_many_rows_stays_among_them) {
  for (const double zipf : {0.0, 1e-9, 1 - 1e-9, 1.0, 4.0}) {
    EXPECT_NEAR(shares({.table_rows = 1, .zipf = zipf})[0], 1, 1e-9) << zipf;
    shares({.table_rows = 2, .zipf = zipf});
    shares({.table_rows = 1'000'000'000'000, .zipf = zipf});
  }
}

TEST(RowCache, finds_a_row_that_it_was_asked_for) {
  RowCache cache(16);
  EXPECT_FALSE(cache.look_up(7));
  EXPECT_TRUE(cache.look_up(7));
}

TEST(RowCache, drops_the_row_whose_last_use_is_longest_ago) {
  for (const std::uint64_t rows : {2U, 16U}) {  // one set
    RowCache cache(static_cast<std::int64_t>(rows));
    for (std::uint64_t row = 0; row < rows; ++row) cache.look_up(row);
    EXPECT_TRUE(cache.look_up(0)) << rows;
    EXPECT_FALSE(cache.look_up(rows)) << rows;  // in place of 1
    EXPECT_TRUE(cache.look_up(0)) << rows;
    EXPECT_FALSE(cache.look_up(1)) << rows;
  }
}

TEST(RowCache, of_no_rows_keeps_none) {
  RowCache cache(0);
  cache.look_up(7);
  EXPECT_FALSE(cache.look_up(7));
}

TEST(RowCache, forgets_all) {
  RowCache cache(16);
  cache.look_up(7);
  cache.forget();
  EXPECT_FALSE(cache.look_up(7));
}

}  // namespace
}  // namespace weft::cache::rows_test
