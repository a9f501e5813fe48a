// The ring queue is first in, first out, over its corners and through its growth.
#include "sim/core/ring_queue.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "sim/core/rng.h"

namespace weft::ring_queue_test {
namespace {

TEST(RingQueue, what_goes_in_first_comes_out_first) {
  RingQueue<int> queue;
  EXPECT_TRUE(queue.empty());
  for (int i = 0; i < 3; ++i) queue.push(i);
  EXPECT_EQ(queue.size(), 3U);
  EXPECT_EQ(queue.front(), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.pop(), i);
  EXPECT_TRUE(queue.empty());
}

TEST(RingQueue, it_grows_rightly_while_its_items_lie_around_the_corner) {
  RingQueue<int> queue;
  for (int i = 0; i < 4; ++i) queue.push(i);  // the first ring has 4 places
  EXPECT_EQ(queue.pop(), 0);
  EXPECT_EQ(queue.pop(), 1);
  for (int i = 4; i < 9; ++i) queue.push(i);  // around the corner, then into a ring of 8
  for (int i = 2; i < 9; ++i) EXPECT_EQ(queue.pop(), i);
}

// What has been long goes around in the first places of its memory: 64 places, of which 60 have
// been in use, and afterwards no more than 8 at a time.
TEST(RingQueue, a_ring_that_is_mostly_empty_uses_few_places) {
  RingQueue<int> queue;
  for (int i = 0; i < 60; ++i) queue.push(i);
  for (int i = 0; i < 57; ++i) EXPECT_EQ(queue.pop(), i);
  for (int i = 60; i < 600; ++i) {
    queue.push(i);
    EXPECT_EQ(queue.pop(), i - 3);
  }
  std::set<const int*> places;
  for (int i = 600; i < 1200; ++i) {
    queue.push(i);
    places.insert(&queue.front());
    EXPECT_EQ(queue.pop(), i - 3);
  }
  EXPECT_EQ(places.size(), 8U);
  for (int i = 1200; i < 1260; ++i) queue.push(i);  // and it grows again
  for (int i = 1197; i < 1260; ++i) EXPECT_EQ(queue.pop(), i);
  EXPECT_TRUE(queue.empty());
}

TEST(RingQueue, random_use_is_as_of_a_deque) {
  Rng rng(1, "test/ring");
  RingQueue<std::int64_t> queue;
  std::deque<std::int64_t> reference;
  for (int step = 0; step < 100'000; ++step) {
    // Phases of growing and of draining, so that the corner is met at many sizes.
    const std::int64_t push_percent = (step / 1'000) % 2 == 0 ? 60 : 40;
    if (reference.empty() || rng.between(0, 99) < push_percent) {
      queue.push(step);
      reference.push_back(step);
    } else {
      ASSERT_EQ(queue.front(), reference.front());
      ASSERT_EQ(queue.pop(), reference.front());
      reference.pop_front();
    }
    ASSERT_EQ(queue.size(), reference.size());
  }
}

TEST(RingQueueDeathTest, items_are_seen_from_the_front_around_the_corner_too) {
  RingQueue<int> queue;
  for (int i = 0; i < 4; ++i) queue.push(i);
  queue.pop();
  queue.pop();
  queue.push(4);  // lies in the place of 0
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(queue.at(i), static_cast<int>(i) + 2);
  EXPECT_DEATH((void)queue.at(3), "behind < size_");
}

TEST(RingQueue, rings_that_share_a_store_keep_what_is_theirs_while_they_grow) {
  RingStore<int> store;
  std::vector<RingQueue<int, RingStore<int>>> queues(3);
  for (int i = 0; i < 100; ++i) {
    for (int q = 0; q < 3; ++q) queues[static_cast<std::size_t>(q)].push(1000 * q + i, store);
  }
  for (int i = 0; i < 100; ++i) {
    for (int q = 0; q < 3; ++q) {
      EXPECT_EQ(queues[static_cast<std::size_t>(q)].pop(), 1000 * q + i);
    }
  }
}

TEST(RingQueueDeathTest, popping_from_an_empty_queue_aborts) {
  RingQueue<int> queue;
  queue.push(1);
  queue.pop();
  EXPECT_DEATH(queue.pop(), "size_ > 0");
}

}  // namespace
}  // namespace weft::ring_queue_test
