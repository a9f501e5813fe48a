// What rings give back to their store, others take.
#include "sim/core/ring_store.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>

namespace weft::ring_store_test {
namespace {

TEST(RingStore, what_one_gives_back_another_of_its_size_takes) {
  RingStore<int> store;
  int* const four = store.take(4);
  int* const eight = store.take(8);
  store.give(four, 4);
  EXPECT_NE(store.take(8), eight);
  EXPECT_EQ(store.take(4), four);
}

TEST(RingStore, two_that_are_in_use_never_overlap) {
  RingStore<int> store;
  std::set<int*> places;
  for (std::size_t items = 1; items <= 4096; items *= 2) {
    int* const ring = store.take(items);
    for (std::size_t i = 0; i < items; ++i) EXPECT_TRUE(places.insert(ring + i).second);
  }
}

// 1,000 rings of 64 in pieces of a quarter each: 64,000, a quarter more of it at most, and the ends
// of pieces that were too short.
TEST(RingStore, takes_little_more_than_its_rings_do) {
  RingStore<int> store;
  for (int i = 0; i < 1000; ++i) store.take(64);
  EXPECT_GE(store.items(), 64'000U);
  EXPECT_LE(store.items(), 64'000U * 4 / 3);
}

TEST(RingStoreDeathTest, a_ring_is_as_long_as_a_power_of_two) {
  RingStore<int> store;
  EXPECT_DEATH(store.take(3), "has_single_bit");
}

}  // namespace
}  // namespace weft::ring_store_test
