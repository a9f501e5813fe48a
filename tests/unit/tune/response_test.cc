// The response to knobs: on costs whose form is known.
#include "sim/tune/response.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/tune/grid.h"

namespace weft::response_test {
namespace {

template <class Cost>
std::vector<Costed> every(const Space& space, std::size_t step, const Cost& cost) {
  std::vector<Costed> seen;
  for (std::size_t i = 0; i < space.points(); i += step) {
    seen.push_back({.point = i, .cost = cost(space.at(i))});
  }
  return seen;
}

// cost = exp(a + 2 b): knobs that do not matter together. Of 4 x 3 x 5 points every seventh is
// seen.
TEST(Response, knows_points_that_it_has_not_seen_where_knobs_are_independent) {
  const Space space = grid({4, 3, 5});
  const auto cost = [](const Space::Values& v) { return std::exp(0.1 * v[0] + 0.2 * v[1]); };
  const Response response(space, every(space, 2, cost));
  for (std::size_t i = 0; i < space.points(); ++i) {
    EXPECT_NEAR(response.log_cost(space.at(i)), std::log(cost(space.at(i))), 0.01);
  }
  EXPECT_LT(response.error(), 0.01);
}

// cost = 2 where both knobs are 1, else 1: neither is worth anything by itself.
TEST(Response, knows_pairs_of_knobs) {
  const Space space = grid({2, 2, 6});
  const auto cost = [](const Space::Values& v) { return v[0] == 1 && v[1] == 1 ? 2.0 : 1.0; };
  const Response response(space, every(space, 1, cost));
  const double both = response.log_cost({1, 1, 0});
  EXPECT_NEAR(both, std::log(2.0), 0.03);
  EXPECT_NEAR(response.log_cost({1, 0, 0}), 0, 0.03);
  EXPECT_NEAR(response.log_cost({0, 1, 0}), 0, 0.03);
}

TEST(Response, says_how_wrong_it_is_about_points_left_out) {
  const Space space = grid({8, 8});
  // Depends on both knobs in a way that says nothing about other values.
  const auto cost = [](const Space::Values& v) {
    return (v[0] * 5 + v[1] * 3) % 8 < 4 ? 1.0 : 2.0;
  };
  EXPECT_GT(Response(space, every(space, 1, cost)).error(), 0.2);
}

TEST(Response, of_one_point_is_its_cost) {
  const Space space = grid({3, 3});
  const Response response(space, {{.point = 4, .cost = 7}});
  EXPECT_NEAR(response.log_cost(space.at(4)), std::log(7.0), 1e-9);
  EXPECT_TRUE(std::isinf(response.error()));
}

// Of two that have nothing in common each is all that is known of the other: both are off by ln 2,
// and the root mean square of two errors is up to 1 / sqrt(0.0985) = 3.19 times as large nine times
// of ten (0.0985 = (1 - 2/18 - 1.2816 sqrt(2/18))^3, about chi square's tenth / 2).
TEST(Response, is_not_sure_of_its_error_after_two_points) {
  const Space space = grid({2});
  const Response response(space, {{.point = 0, .cost = 1}, {.point = 1, .cost = 2}});
  EXPECT_NEAR(response.error(), 3.19 * std::log(2.0), 0.01);
}

// Costs that know nothing of the knobs: the fewer points were seen, the larger the error is said to
// be, and it is never below what points that were not seen are off by.
TEST(Response, says_a_larger_error_the_fewer_points_it_has_seen) {
  const Space space = grid({10, 10});
  const auto cost = [](const Space::Values& v) {
    return std::exp(0.1 * std::sin(1.0 + 37.0 * v[0] + 101.0 * v[1]));  // of 0.07 in the mean
  };
  const double of_4 = Response(space, every(space, 25, cost)).error();
  const double of_100 = Response(space, every(space, 1, cost)).error();
  EXPECT_GT(of_4, of_100);
  EXPECT_GT(of_100, 0.07);
  EXPECT_LT(of_100, 0.1);
}

TEST(Response, takes_thousands_of_points) {
  const Space space = grid({10, 10, 20});
  const auto cost = [](const Space::Values& v) { return 1.0 + v[0] + v[2]; };
  const Response response(space, every(space, 1, cost));
  EXPECT_LT(response.log_cost({0, 5, 0}), response.log_cost({9, 5, 19}));
}

}  // namespace
}  // namespace weft::response_test
