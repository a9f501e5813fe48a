// Searches for several objectives, one after the other, of costs that are known everywhere.
#include "sim/tune/several_searches.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/unit/tune/grid.h"

namespace weft::several_searches_test {
namespace {

using Costs = std::vector<double>;

// Two objectives that want opposite ends of each of four knobs.
Costs opposite(const Space::Values& values) {
  double up = 1;
  double down = 1;
  for (std::size_t knob = 0; knob < values.size(); ++knob) {
    const auto at = static_cast<double>(values[knob]);
    const double steep = 1 + 0.2 * static_cast<double>(knob + 1);
    up *= std::pow(steep, at);
    down *= std::pow(1.5, 9 - at);
  }
  return {up, down};
}

struct Found {
  std::vector<std::size_t> asked;
  double least_first = 1e300;
  double least_second = 1e300;
};

Found run(SeveralSearches& search, const Space& space) {
  Found found;
  for (auto next = search.ask(); !next.empty(); next = search.ask()) {
    for (const std::size_t point : next) {
      const Costs costs = opposite(space.at(point));
      found.asked.push_back(point);
      found.least_first = std::min(found.least_first, costs[0]);
      found.least_second = std::min(found.least_second, costs[1]);
      search.tell(point, costs);
    }
  }
  return found;
}

// The best of either is at an end of the space; both are found with 300 of 10,000 points.
TEST(SeveralSearches, find_the_best_of_each_objective) {
  const Space space = grid({10, 10, 10, 10});
  SeveralSearches search(space, 2, 300, std::nullopt);
  const Found found = run(search, space);
  EXPECT_EQ(found.asked.size(), 300U);
  EXPECT_EQ(search.simulated(), 300U);
  EXPECT_EQ(std::set(found.asked.begin(), found.asked.end()).size(), 300U);  // none twice
  EXPECT_DOUBLE_EQ(found.least_first, 1);
  EXPECT_DOUBLE_EQ(found.least_second, 1);
  ASSERT_TRUE(search.best());
  EXPECT_DOUBLE_EQ(search.best()->cost, found.least_first);
}

TEST(SeveralSearches, of_one_objective_are_its_search) {
  const Space space = grid({10, 10});
  SeveralSearches several(space, 1, 20, 3);
  PointSearch one(space, 20, 3);
  for (auto next = one.ask(); !next.empty(); next = one.ask()) {
    EXPECT_EQ(several.ask(), next);
    for (const std::size_t point : next) {
      const double cost = opposite(space.at(point))[0];
      one.tell(point, cost);
      several.tell(point, Costs{cost});
    }
  }
  EXPECT_TRUE(several.ask().empty());
}

TEST(SeveralSearches, try_all_where_they_may) {
  const Space space = grid({3, 3});
  SeveralSearches search(space, 2, 9, std::nullopt);
  EXPECT_EQ(run(search, space).asked.size(), 9U);
}

// What is as good in both objectives beats; what is better in one does not.
TEST(SeveralSearches, know_what_cannot_be_on_the_front) {
  const Space space = grid({4});
  SeveralSearches search(space, 2, 4, std::nullopt);
  EXPECT_FALSE(search.beats({9, 9}));
  search.tell(0, Costs{1, 5});
  search.tell(1, std::nullopt);
  search.tell(2, Costs{5, 1});
  EXPECT_TRUE(search.beats({1, 5}));
  EXPECT_TRUE(search.beats({2, 6}));
  EXPECT_FALSE(search.beats({2, 4}));
  EXPECT_FALSE(search.beats({0.5, 9}));
}

}  // namespace
}  // namespace weft::several_searches_test
