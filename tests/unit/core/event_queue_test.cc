// The event queue has one order, (time, content), however the events came in.
#include "sim/core/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/rng.h"

namespace weft::event_queue_test {
namespace {

SimTime at(std::int64_t ps) { return SimTime::from_count(ps); }

std::vector<Event> drain(EventQueue& queue) {
  std::vector<Event> events;
  while (!queue.empty()) events.push_back(queue.pop());
  return events;
}

// Fisher and Yates' shuffle with our own random numbers.
template <class T>
void shuffle(std::vector<T>& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i) {
    const auto j = static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(i) - 1));
    std::swap(items[i - 1], items[j]);
  }
}

TEST(EventQueue, is_empty_at_first_and_counts_what_is_in_it) {
  EventQueue queue;
  EXPECT_TRUE(queue.empty());
  queue.push(at(5), 1);
  queue.push(at(5), 2);
  EXPECT_EQ(queue.size(), 2U);
  queue.pop();
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_TRUE(queue.more_now());
  queue.pop();
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.more_now());
}

TEST(EventQueue, earlier_events_come_first_and_ties_go_by_content) {
  EventQueue queue;
  queue.push(at(20), 1);
  queue.push(at(10), 9);
  queue.push(at(10), 3);
  queue.push(at(0), 7);
  const std::vector<Event> expected = {{0, 7}, {10, 3}, {10, 9}, {20, 1}};
  EXPECT_EQ(drain(queue), expected);
}

TEST(EventQueue, equal_events_are_kept_as_often_as_they_were_pushed) {
  EventQueue queue;
  for (int i = 0; i < 3; ++i) queue.push(at(8), 4);
  EXPECT_EQ(drain(queue), std::vector<Event>(3, Event{8, 4}));
}

TEST(EventQueue, any_order_of_pushing_gives_the_same_history) {
  Rng rng(3, "test/order");
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < 500; ++i) {
    events.push_back({static_cast<std::uint64_t>(rng.between(0, 60)), i});
  }
  std::vector<Event> sorted = events;
  std::sort(sorted.begin(), sorted.end());
  for (int round = 0; round < 20; ++round) {
    shuffle(events, rng);
    EventQueue queue;
    for (const Event& e : events) queue.push(at(static_cast<std::int64_t>(e.at_ps)), e.content);
    ASSERT_EQ(drain(queue), sorted);
  }
}

// One random schedule: pops and pushes in turn, compared with a sorted multiset. `reach` is the
// longest delay; a small one makes nearly every event a tie.
void compare_with_a_sorted_set(std::uint64_t seed, std::int64_t reach) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", delays to " + std::to_string(reach));
  Rng rng(seed, "test/schedule", static_cast<std::uint64_t>(reach));
  EventQueue queue;
  std::multiset<Event> reference;
  std::int64_t now = 0;
  for (int step = 0; step < 20'000; ++step) {
    const bool grow = rng.between(0, 99) < (step < 10'000 ? 55 : 45);
    if (grow || reference.empty()) {
      const std::int64_t delay = rng.between(0, 3) == 0 ? 0 : rng.between(0, reach);
      const auto content = static_cast<std::uint64_t>(rng.between(0, 1'000));
      queue.push(at(now + delay), content);
      reference.insert({static_cast<std::uint64_t>(now + delay), content});
    } else {
      const Event popped = queue.pop();
      ASSERT_EQ(popped, *reference.begin());
      reference.erase(reference.begin());
      now = static_cast<std::int64_t>(popped.at_ps);
      const bool more =
          !reference.empty() && reference.begin()->at_ps == static_cast<std::uint64_t>(now);
      ASSERT_EQ(queue.more_now(), more);
    }
    ASSERT_EQ(queue.size(), reference.size());
  }
  for (const Event& expected : reference) ASSERT_EQ(queue.pop(), expected);
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, random_schedules_come_out_as_from_a_sorted_set) {
  // From ties only, over every digit of the radix heap, to delays near the end of the clock: 10,000
  // pops of 2^49 ps each stay below 2^63.
  for (const std::int64_t reach : {0LL, 1LL, 3LL, 17LL, 300LL, 70'000LL, 1LL << 33U, 1LL << 49U}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) compare_with_a_sorted_set(seed, reach);
  }
}

TEST(EventQueue, an_event_pushed_at_the_present_instant_takes_its_place_in_that_instant) {
  EventQueue queue;
  queue.push(at(10), 5);
  queue.push(at(10), 8);
  queue.push(at(11), 0);
  EXPECT_EQ(queue.pop(), (Event{10, 5}));
  queue.push(at(10), 2);  // what is past in this instant is past
  queue.push(at(10), 9);
  const std::vector<Event> expected = {{10, 2}, {10, 8}, {10, 9}, {11, 0}};
  EXPECT_EQ(drain(queue), expected);
}

TEST(EventQueue, the_ends_of_the_clock_and_of_content_are_ordinary_values) {
  EventQueue queue;
  queue.push(at(INT64_MAX), UINT64_MAX);
  queue.push(at(INT64_MAX), 0);
  queue.push(at(0), UINT64_MAX);
  constexpr auto kLast = static_cast<std::uint64_t>(INT64_MAX);
  const std::vector<Event> expected = {{0, UINT64_MAX}, {kLast, 0}, {kLast, UINT64_MAX}};
  EXPECT_EQ(drain(queue), expected);
}

TEST(EventQueueDeathTest, pushing_into_the_past_aborts) {
  EventQueue queue;
  queue.push(at(10), 1);
  queue.pop();
  queue.push(at(10), 2);  // the present is not the past
  EXPECT_DEATH(queue.push(at(9), 3), "at_ps >= last_");
}

TEST(EventQueueDeathTest, pushing_before_the_start_of_the_run_aborts) {
  EventQueue queue;
  EXPECT_DEATH(queue.push(at(-1), 0), "violated");
}

TEST(EventQueueDeathTest, popping_from_an_empty_queue_aborts) {
  EventQueue queue;
  for (std::uint64_t i = 0; i < 10; ++i) queue.push(at(10), i);
  drain(queue);
  EXPECT_DEATH(queue.pop(), "size_ > 0");
}

TEST(EventQueue, shuffled_ties_change_only_the_order_inside_an_instant) {
  Rng rng(5, "test/ties");
  EventQueue plain;
  EventQueue shuffled(0x5A5A);
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    const SimTime when = at(rng.between(0, 40));
    plain.push(when, i);
    shuffled.push(when, i);
  }
  const std::vector<Event> expected = drain(plain);
  std::vector<Event> got = drain(shuffled);
  ASSERT_EQ(got.size(), expected.size());
  EXPECT_NE(got, expected);
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i].at_ps, expected[i].at_ps);
  std::sort(got.begin(), got.end());  // the same events, each with the content it was pushed with
  EXPECT_EQ(got, expected);
}

}  // namespace
}  // namespace weft::event_queue_test
