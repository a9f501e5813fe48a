// The search, on costs that are known: how many points it needs, and that it misses nothing.
#include "sim/tune/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "tests/unit/tune/grid.h"

namespace weft::search_test {
namespace {

using Cost = std::function<std::optional<double>(const Space::Values&)>;

Space cube(std::uint32_t size, std::size_t axes) {
  return grid(std::vector<std::uint32_t>(axes, size));
}

// What it asked for, in order.
std::vector<std::size_t> run(PointSearch& search, const Space& space, const Cost& cost) {
  std::vector<std::size_t> asked;
  for (std::vector<std::size_t> next = search.ask(); !next.empty(); next = search.ask()) {
    for (const std::size_t point : next) search.tell(point, cost(space.at(point)));
    asked.insert(asked.end(), next.begin(), next.end());
  }
  return asked;
}

// Distance from (3, 1, 4, 1), with an interaction: 10^4 points, 5 % of them tried.
double bowl(const Space::Values& v) {
  const auto off = [&](std::size_t axis, double best) { return std::abs(v[axis] - best); };
  return 1 + 0.1 * (off(0, 3) + off(1, 1) + off(2, 4) + off(3, 1) + off(0, 3) * off(2, 4));
}

TEST(PointSearch, finds_the_best_of_10_000_with_5_percent_of_them) {
  const Space space = cube(10, 4);
  PointSearch search(space, 500, std::nullopt);
  const auto asked = run(search, space, bowl);
  EXPECT_EQ(asked.size(), 500U);
  EXPECT_EQ(space.at(search.best()->point), (Space::Values{3, 1, 4, 1}));
}

// Two valleys: the deeper one is reached only if both knobs change.
TEST(PointSearch, is_not_held_by_a_valley_that_no_single_knob_leaves) {
  const Space space = cube(10, 4);
  const auto valleys = [](const Space::Values& v) {
    const double one = 1.2 + 0.1 * (v[0] + v[1]);
    const double other = 1 + 0.15 * ((9.0 - v[0]) + (9.0 - v[1]));
    return std::min(one, other) + 0.01 * (v[2] + v[3]);
  };
  PointSearch search(space, 500, space.find({0, 0, 0, 0}));
  run(search, space, valleys);
  EXPECT_EQ(space.at(search.best()->point), (Space::Values{9, 9, 0, 0}));
}

TEST(PointSearch, begins_with_the_start) {
  const Space space = cube(10, 2);
  PointSearch search(space, 20, 42);
  EXPECT_EQ(search.ask().front(), 42U);
}

TEST(PointSearch, tries_each_point_once_and_all_where_it_may) {
  const Space space = cube(5, 3);
  PointSearch search(space, 1000, std::nullopt);
  const auto asked = run(search, space, [](const Space::Values& v) { return 1.0 + v[0]; });
  EXPECT_EQ(asked.size(), 125U);
  EXPECT_EQ(std::set<std::size_t>(asked.begin(), asked.end()).size(), 125U);
}

// At its end the best has no neighbour that was not tried.
TEST(PointSearch, ends_where_no_single_knob_improves) {
  const Space space = cube(6, 4);
  PointSearch search(space, 200, std::nullopt);
  run(search, space, bowl);
  for (std::size_t axis = 0; axis < 4; ++axis) {
    for (const std::size_t point : space.neighbours(search.best()->point, axis)) {
      EXPECT_TRUE(search.told(point));
    }
  }
}

TEST(PointSearch, does_not_count_points_without_a_cost) {
  const Space space = cube(10, 2);
  PointSearch search(space, 30, std::nullopt);
  run(search, space,
      [](const Space::Values& v) { return v[0] < 5 ? std::nullopt : std::optional(1.0 + v[1]); });
  EXPECT_EQ(search.seen().size(), 30U);
  EXPECT_EQ(search.best()->cost, 1);
}

TEST(PointSearch, ends_where_nothing_has_a_cost) {
  const Space space = cube(4, 2);
  PointSearch search(space, 10, std::nullopt);
  EXPECT_EQ(run(search, space, [](const Space::Values&) { return std::nullopt; }).size(), 16U);
  EXPECT_FALSE(search.best());
}

TEST(PointSearch, asks_for_the_same_again) {
  const Space space = cube(10, 3);
  PointSearch one(space, 60, 7);
  PointSearch other(space, 60, 7);
  const auto cost = [](const Space::Values& v) { return 1.0 + v[0] * v[1] + v[2]; };
  EXPECT_EQ(run(one, space, cost), run(other, space, cost));
}

TEST(Space, has_as_neighbours_what_the_filter_keeps) {
  const Space space({3, 2}, {{0, 0}, {1, 0}, {2, 1}});
  EXPECT_EQ(space.neighbours(0, 0), std::vector<std::size_t>{1});
  EXPECT_TRUE(space.neighbours(2, 1).empty());
}

}  // namespace
}  // namespace weft::search_test
