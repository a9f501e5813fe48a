// Layers shared out among the parts of a pipeline, by hand and against every split.
#include "sim/pipeline/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "sim/core/rng.h"

namespace weft::split_test {
namespace {

using Counts = std::vector<std::int64_t>;

Chain chain(std::int64_t before, const Counts& layers, std::int64_t after) {
  Chain made{.before = microseconds(before), .layers = {}, .after = microseconds(after)};
  for (const std::int64_t layer : layers) made.layers.push_back(microseconds(layer));
  return made;
}

// Two and two layers: 20 and 20 + 15. Three and one: 30 and 25.
TEST(Split, leaves_the_part_with_the_head_fewer_layers) {
  EXPECT_EQ(split_evenly(chain(0, {10, 10, 10, 10}, 15), 2), (Counts{3, 1}));
  EXPECT_EQ(split_evenly(chain(15, {10, 10, 10, 10}, 0), 2), (Counts{1, 3}));
}

// The last layer alone takes 30, so the others could be 1 and 3 or 2 and 2.
TEST(Split, of_those_with_the_same_longest_part_has_the_most_even_one) {
  EXPECT_EQ(split_evenly(chain(0, {10, 10, 10, 10, 30}, 0), 3), (Counts{2, 2, 1}));
}

// The ends have the embedding and the head.
TEST(Split, leaves_each_part_a_layer_but_for_the_ends) {
  EXPECT_EQ(split_evenly(chain(100, {1, 1, 1}, 100), 3), (Counts{0, 3, 0}));
  EXPECT_EQ(split_evenly(chain(0, {1, 1, 1, 9}, 0), 4), (Counts{1, 1, 1, 1}));
  EXPECT_EQ(split_evenly(chain(0, {5, 5}, 0), 1), (Counts{2}));
}

struct Extremes {
  std::int64_t longest = 0;
  std::int64_t shortest = 0;
};

Extremes extremes(const Chain& chain, const Counts& counts) {
  Extremes found{.longest = 0, .shortest = std::numeric_limits<std::int64_t>::max()};
  std::size_t layer = 0;
  for (std::size_t part = 0; part < counts.size(); ++part) {
    std::int64_t time = part == 0 ? chain.before.count() : 0;
    if (part + 1 == counts.size()) time += chain.after.count();
    for (std::int64_t i = 0; i < counts[part]; ++i) time += chain.layers[layer++].count();
    found.longest = std::max(found.longest, time);
    found.shortest = std::min(found.shortest, time);
  }
  return found;
}

// Of every split into so many parts the best, by its longest and then its shortest part.
Extremes best_of_all(const Chain& chain, std::size_t parts) {
  Extremes best{.longest = std::numeric_limits<std::int64_t>::max(), .shortest = 0};
  Counts counts;
  const std::function<void(std::int64_t)> extend = [&](std::int64_t left) {
    if (counts.size() + 1 == parts) {
      if (parts == 1 && left == 0) return;
      counts.push_back(left);
      const Extremes here = extremes(chain, counts);
      if (here.longest < best.longest ||
          (here.longest == best.longest && here.shortest > best.shortest)) {
        best = here;
      }
      counts.pop_back();
      return;
    }
    for (std::int64_t count = counts.empty() ? 0 : 1; count <= left; ++count) {
      counts.push_back(count);
      extend(left - count);
      counts.pop_back();
    }
  };
  extend(static_cast<std::int64_t>(chain.layers.size()));
  return best;
}

TEST(Split, is_as_good_as_the_best_of_all) {
  Rng rng(7, "split");
  for (int trial = 0; trial < 200; ++trial) {
    Counts layers;
    const std::int64_t number = rng.between(2, 9);
    for (std::int64_t i = 0; i < number; ++i) layers.push_back(rng.between(1, 9));
    const Chain made = chain(rng.between(0, 19), layers, rng.between(0, 19));
    const auto parts = static_cast<std::size_t>(rng.between(1, number));
    const Counts counts = split_evenly(made, static_cast<int>(parts));
    ASSERT_EQ(counts.size(), parts);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}),
              static_cast<std::int64_t>(layers.size()));
    if (parts > 2) {
      EXPECT_GE(*std::min_element(counts.begin() + 1, counts.end() - 1), 1);
    }
    const Extremes best = best_of_all(made, parts);
    const Extremes here = extremes(made, counts);
    EXPECT_EQ(here.longest, best.longest);
    EXPECT_EQ(here.shortest, best.shortest);
  }
}

}  // namespace
}  // namespace weft::split_test
