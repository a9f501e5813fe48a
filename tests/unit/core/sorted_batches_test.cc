// Sorted batches give their least item first, as a sorted set does, wherever new items belong.
#include "sim/core/sorted_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "sim/core/rng.h"

namespace weft::sorted_batches_test {
namespace {

using Item = std::pair<std::int64_t, int>;

TEST(SortedBatches, the_least_item_comes_first) {
  SortedBatches<int> queue;
  EXPECT_TRUE(queue.empty());
  for (const int item : {5, 1, 4, 1, 3}) queue.push(item);
  EXPECT_EQ(queue.size(), 5U);
  for (const int item : {1, 1, 3, 4, 5}) {
    EXPECT_EQ(queue.top(), item);
    EXPECT_EQ(queue.pop(), item);
  }
  EXPECT_TRUE(queue.empty());
}

void expect_same(const SortedBatches<Item>& queue, const std::set<Item>& reference) {
  std::vector<Item> items;
  queue.for_each([&items](const Item& item) { items.push_back(item); });
  std::sort(items.begin(), items.end());
  EXPECT_TRUE(std::equal(items.begin(), items.end(), reference.begin(), reference.end()));
}

// As a server uses it: when one of some 800 jobs is done, another begins, `least` to `most` later.
void use_as_a_server(std::int64_t least, std::int64_t most, std::size_t jobs) {
  Rng rng(static_cast<std::uint64_t>(most), "test/sorted_batches", jobs);
  SortedBatches<Item> queue;
  std::set<Item> reference;
  std::int64_t now = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (reference.size() < jobs && step < 15'000) {
      const Item item{now + rng.between(least, most), step};
      queue.push(item);
      reference.insert(item);
    } else if (!reference.empty()) {
      ASSERT_EQ(queue.top(), *reference.begin());
      ASSERT_EQ(queue.pop(), *reference.begin());
      now = reference.begin()->first;
      reference.erase(reference.begin());
    }
    ASSERT_EQ(queue.size(), reference.size());
    if (step % 1'000 == 0) expect_same(queue, reference);
  }
  for (const Item& item : reference) ASSERT_EQ(queue.pop(), item);
  EXPECT_TRUE(queue.empty());
}

TEST(SortedBatches, jobs_of_one_length_or_of_many_come_in_order) {
  for (const std::size_t jobs : {1U, 8U, 64U, 65U, 104U, 832U}) {
    use_as_a_server(900, 1'100, jobs);
    use_as_a_server(1'000, 1'000, jobs);
    use_as_a_server(0, 1'000'000, jobs);
    use_as_a_server(0, 1, jobs);
  }
}

// Most end soon, but some so late that batches of all would have room for none of the others.
TEST(SortedBatches, short_jobs_between_long_ones_come_in_order) {
  Rng rng(1, "test/sorted_batches/short");
  SortedBatches<Item> queue;
  std::set<Item> reference;
  std::int64_t now = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (reference.size() < 500) {
      const bool is_long = rng.between(0, 9) == 0;
      const Item item{now + (is_long ? 100'000 : rng.between(1, 100)), step};
      queue.push(item);
      reference.insert(item);
    } else {
      ASSERT_EQ(queue.pop(), *reference.begin());
      now = reference.begin()->first;
      reference.erase(reference.begin());
    }
  }
  expect_same(queue, reference);
  for (const Item& item : reference) ASSERT_EQ(queue.pop(), item);
}

}  // namespace
}  // namespace weft::sorted_batches_test
