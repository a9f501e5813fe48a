// The wide heap gives its least item first, as a sorted set does.
#include "sim/core/wide_heap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>

#include "sim/core/rng.h"

namespace weft::wide_heap_test {
namespace {

TEST(WideHeap, the_least_item_comes_first) {
  WideHeap<int> heap;
  EXPECT_TRUE(heap.empty());
  for (const int item : {5, 1, 4, 1, 3}) heap.push(item);
  EXPECT_EQ(heap.size(), 5U);
  for (const int item : {1, 1, 3, 4, 5}) {
    EXPECT_EQ(heap.top(), item);
    EXPECT_EQ(heap.pop(), item);
  }
  EXPECT_TRUE(heap.empty());
}

TEST(WideHeap, random_use_is_as_of_a_sorted_set) {
  for (const std::int64_t values : {1, 3, 50, 1'000'000}) {  // from ties only to hardly any
    Rng rng(1, "test/wide_heap", static_cast<std::uint64_t>(values));
    WideHeap<std::pair<std::int64_t, int>> heap;
    std::set<std::pair<std::int64_t, int>> reference;
    for (int step = 0; step < 20'000; ++step) {
      const std::int64_t push_percent = step < 10'000 ? 55 : 45;
      if (reference.empty() || rng.between(0, 99) < push_percent) {
        const std::pair<std::int64_t, int> item{rng.between(1, values), step};
        heap.push(item);
        reference.insert(item);
      } else {
        ASSERT_EQ(heap.top(), *reference.begin());
        ASSERT_EQ(heap.pop(), *reference.begin());
        reference.erase(reference.begin());
      }
      ASSERT_EQ(heap.size(), reference.size());
    }
    for (const auto& item : reference) ASSERT_EQ(heap.pop(), item);
  }
}

}  // namespace
}  // namespace weft::wide_heap_test
