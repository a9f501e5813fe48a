// The window queue gives each place its events in the order (time, content), window by window.
#include "sim/core/window_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/core/rng.h"

namespace weft::window_queue_test {
namespace {

constexpr Duration kLookahead = picoseconds(100);

SimTime at(std::uint64_t ps) { return SimTime::from_count(static_cast<std::int64_t>(ps)); }

// Begins the earliest window, up to `stop`; the time of its first event.
SimTime begin(WindowQueue& queue, SimTime stop = WindowQueue::kNever - picoseconds(1)) {
  const SimTime first = queue.next().at;
  if (first <= stop) queue.begin_window(first, stop);
  return first;
}

// What the place that is being visited still has in this window.
std::vector<Event> rest_of(WindowQueue& queue) {
  std::vector<Event> events;
  while (queue.more()) events.push_back(queue.pop());
  return events;
}

TEST(WindowQueue, earlier_events_of_a_place_come_first_and_ties_go_by_content) {
  WindowQueue queue(kLookahead, 3);
  queue.push(at(20), 1, 2);
  queue.push(at(10), 9, 2);
  queue.push(at(10), 3, 2);
  EXPECT_EQ(begin(queue), at(10));
  ASSERT_TRUE(queue.next_place());
  EXPECT_EQ(queue.place(), 2U);
  EXPECT_EQ(queue.pop(), (Event{10, 3}));
  EXPECT_TRUE(queue.more_now());
  EXPECT_EQ(queue.pop(), (Event{10, 9}));
  EXPECT_FALSE(queue.more_now());
  EXPECT_EQ(queue.pop(), (Event{20, 1}));
  EXPECT_FALSE(queue.more());
  EXPECT_FALSE(queue.next_place());
  EXPECT_TRUE(queue.empty());
}

TEST(WindowQueue, what_a_place_gets_while_it_is_visited_comes_in_order) {
  WindowQueue queue(kLookahead, 1);
  queue.push(at(0), 1, 0);
  queue.push(at(9), 5, 0);
  begin(queue);
  ASSERT_TRUE(queue.next_place());
  EXPECT_EQ(queue.pop(), (Event{0, 1}));
  queue.push(at(0), 0, 0);  // now, though its content is less: after what has happened
  queue.push(at(9), 4, 0);
  EXPECT_TRUE(queue.more_now());
  const std::vector<Event> expected = {{0, 0}, {9, 4}, {9, 5}};
  EXPECT_EQ(rest_of(queue), expected);
}

TEST(WindowQueue, what_comes_long_before_many_others_is_in_order_too) {
  WindowQueue queue(kLookahead, 1);
  for (std::uint64_t i = 0; i < 30; ++i) queue.push(at(i + 60), i, 0);
  queue.push(at(0), 1, 0);
  begin(queue);
  ASSERT_TRUE(queue.next_place());
  EXPECT_EQ(queue.pop(), (Event{0, 1}));
  std::vector<Event> expected;
  for (std::uint64_t i = 0; i < 30; ++i) expected.push_back({i + 60, i});
  for (const std::uint64_t ps : {40U, 5U, 99U, 5U, 75U, 20U}) {
    queue.push(at(ps), 100 + ps, 0);
    expected.push_back({ps, 100 + ps});
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(rest_of(queue), expected);
}

TEST(WindowQueue, keeps_no_memory_for_as_many_events_as_a_run_may_begin_with) {
  constexpr std::uint64_t kEvents = 400'000;
  WindowQueue queue(kLookahead, 2);
  for (std::uint64_t i = 0; i < kEvents; ++i) queue.push(at(i % 10), i, 0);
  queue.push(at(1000), 1, 1);
  begin(queue);
  EXPECT_GE(queue.room(), kEvents);
  ASSERT_TRUE(queue.next_place());
  EXPECT_EQ(rest_of(queue).size(), kEvents);
  EXPECT_FALSE(queue.next_place());
  queue.push(at(2000), 1, 1);
  for (int window = 0; window < 2; ++window) {
    begin(queue);
    ASSERT_TRUE(queue.next_place());
    EXPECT_EQ(rest_of(queue).size(), 1U);
    EXPECT_FALSE(queue.next_place());
  }
  EXPECT_LT(queue.room(), 200U);
}

// The room doubles only while no more than half of it is for events that have been popped: it is at
// most four times that of the pending ones, and 64 to begin with.
TEST(WindowQueue, the_events_of_a_long_visit_take_the_room_of_those_that_are_pending) {
  constexpr std::uint64_t kEvents = 100'000;
  for (const std::uint64_t pending : {10U, 100U, 1'000U}) {
    WindowQueue queue(picoseconds(10'000'000), 1);
    for (std::uint64_t i = 0; i < pending; ++i) queue.push(at(i), i, 0);
    begin(queue);
    ASSERT_TRUE(queue.next_place());
    for (std::uint64_t i = 0; i < kEvents; ++i) {
      ASSERT_EQ(queue.pop(), (Event{i, i}));
      queue.push(at(i + pending), i + pending, 0);
    }
    EXPECT_EQ(rest_of(queue).size(), pending);
    EXPECT_LE(queue.room(), 64 + (1 + 4) * pending);
  }
}

// The room is that of the events of visits, not of those that a window begins with: it is kept if
// each window's visit begets as many from one.
TEST(WindowQueue, keeps_the_room_that_every_window_needs) {
  constexpr std::uint64_t kEvents = 100'000;
  constexpr std::uint64_t kWindow = 10'000'000;
  WindowQueue queue(picoseconds(kWindow), 1);
  queue.push(at(0), 0, 0);
  std::size_t room = 0;
  for (std::uint64_t window = 0; window < 4; ++window) {
    const std::uint64_t first = 2 * window * kWindow;
    begin(queue);
    if (window > 1) {
      EXPECT_EQ(queue.room(), room);
    }
    ASSERT_TRUE(queue.next_place());
    queue.pop();
    for (std::uint64_t i = 1; i <= kEvents; ++i) queue.push(at(first + i), i, 0);
    queue.push(at(first + 2 * kWindow), 0, 0);
    EXPECT_EQ(rest_of(queue).size(), kEvents);
    EXPECT_FALSE(queue.next_place());
    room = queue.room();
  }
}

TEST(WindowQueue, a_message_that_takes_the_lookahead_belongs_to_a_later_window) {
  for (const std::int64_t lookahead : {2, 3, 100, 127, 300'001}) {
    for (const std::uint64_t sent : {0U, 1U, 99U, 100U, 12'345U}) {
      WindowQueue queue(picoseconds(lookahead), 2);
      queue.push(at(sent), 0, 0);
      begin(queue);
      ASSERT_TRUE(queue.next_place());
      queue.pop();
      queue.push(at(sent) + picoseconds(lookahead), 7, 1);
      EXPECT_FALSE(queue.next_place());
      EXPECT_EQ(begin(queue), at(sent) + picoseconds(lookahead));
      ASSERT_TRUE(queue.next_place());
      EXPECT_EQ(queue.place(), 1U);
    }
  }
}

TEST(WindowQueue, no_window_is_longer_than_the_lookahead) {
  for (const std::int64_t lookahead : {2, 3, 100, 127}) {
    WindowQueue queue(picoseconds(lookahead), 1);
    for (std::uint64_t ps = 0; ps < 2000; ++ps) queue.push(at(ps), 0, 0);
    while (!queue.empty()) {
      const SimTime first = begin(queue);
      ASSERT_TRUE(queue.next_place());
      const std::vector<Event> events = rest_of(queue);
      EXPECT_EQ(at(events.front().at_ps), first);
      EXPECT_LT(at(events.back().at_ps) - first, picoseconds(lookahead));
      EXPECT_FALSE(queue.next_place());
    }
  }
}

// So that what its visit needs can be fetched meanwhile.
TEST(WindowQueue, says_which_place_comes_after_the_next_if_enough_of_its_events_are_known) {
  WindowQueue queue(kLookahead, 6);
  for (const std::uint32_t place : {3U, 5U, 2U, 5U}) queue.push(at(10), place, place);
  begin(queue);
  ASSERT_TRUE(queue.next_place());
  EXPECT_EQ(queue.place(), 3U);
  EXPECT_EQ(queue.place_after(1, 2), 5U);
  EXPECT_EQ(queue.place_after(1, 3), std::nullopt);
  EXPECT_EQ(queue.place_after(2, 1), 2U);
  EXPECT_EQ(queue.place_after(2, 2), std::nullopt);
  EXPECT_EQ(queue.place_after(3, 1), std::nullopt);
}

TEST(WindowQueueDeathTest, a_message_that_comes_sooner_is_a_broken_assumption) {
  WindowQueue queue(kLookahead, 2);
  queue.push(at(0), 0, 0);
  begin(queue);
  ASSERT_TRUE(queue.next_place());
  queue.pop();
  EXPECT_DEATH(queue.push(at(99), 7, 1), "place == place_");
}

TEST(WindowQueue, what_is_later_than_a_stop_waits_in_its_window) {
  WindowQueue queue(kLookahead, 2);
  queue.push(at(10), 1, 0);
  queue.push(at(11), 1, 0);
  queue.push(at(12), 1, 1);
  EXPECT_EQ(begin(queue, at(9)), at(10));  // nothing begins
  EXPECT_FALSE(queue.next_place());
  EXPECT_EQ(begin(queue, at(11)), at(10));
  ASSERT_TRUE(queue.next_place());
  queue.pop();
  queue.push(at(13), 1, 0);
  const std::vector<Event> expected = {{11, 1}};
  EXPECT_EQ(rest_of(queue), expected);
  EXPECT_FALSE(queue.next_place());
  EXPECT_EQ(begin(queue, at(20)), at(12));
  ASSERT_TRUE(queue.next_place());
  EXPECT_EQ(rest_of(queue).size(), 1U);
  ASSERT_TRUE(queue.next_place());
  EXPECT_EQ(rest_of(queue).size(), 1U);
  EXPECT_FALSE(queue.next_place());
  EXPECT_TRUE(queue.empty());
}

TEST(WindowQueue, a_window_in_which_only_other_queues_have_events_passes_by) {
  WindowQueue queue(kLookahead, 1);
  queue.push(at(250), 1, 0);
  EXPECT_EQ(queue.next().at, at(250));
  queue.begin_window(at(50), at(1000));
  EXPECT_FALSE(queue.next_place());
  queue.push(at(240), 1, 0);  // another queue's event of that window has sent it
  EXPECT_EQ(queue.next().at, at(240));
  EXPECT_EQ(queue.next().events, 2U);
  queue.begin_window(at(240), at(1000));
  ASSERT_TRUE(queue.next_place());
  EXPECT_EQ(rest_of(queue).size(), 2U);
  EXPECT_FALSE(queue.next_place());
  EXPECT_EQ(queue.next().at, WindowQueue::kNever);
}

// Each event begets up to two others: some at its own place soon, some elsewhere after the
// lookahead.
struct Offspring {
  SimTime at;
  std::uint64_t content;
  std::uint32_t place;
};
std::vector<Offspring> offspring(std::uint32_t place, const Event& event, std::uint32_t places) {
  std::vector<Offspring> all;
  Rng rng(event.at_ps * 1'000'003 + event.content, "offspring", place);
  if (event.at_ps > 20'000) return all;
  for (std::int64_t i = rng.between(0, 2); i > 0; --i) {
    const bool here = rng.between(0, 1) == 0;
    const auto to = here ? place : static_cast<std::uint32_t>(rng.between(0, places - 1));
    const Duration soon = picoseconds(rng.between(0, 3) * rng.between(0, 40));
    const Duration late = kLookahead + picoseconds(rng.between(0, 1) * rng.between(0, 9'000));
    // At once, but with more content: else two events could beget each other for ever.
    const bool at_once = here && soon.count() == 0;
    const auto content = static_cast<std::uint64_t>(rng.between(0, 1000));
    all.push_back({.at = at(event.at_ps) + (here ? soon : late),
                   .content = at_once ? event.content + 1 : content,
                   .place = to});
  }
  return all;
}

using Histories = std::map<std::uint32_t, std::vector<Event>>;

Histories in_one_queue(std::uint32_t places, std::uint64_t shuffle) {
  EventQueue queue(shuffle);
  const auto push = [&](const Offspring& event) {
    queue.push(event.at, event.content | std::uint64_t{event.place} << 40U);
  };
  for (std::uint32_t i = 0; i < 200; ++i) push({at(i * 7), i, i % places});
  Histories histories;
  while (!queue.empty()) {
    Event event = queue.pop();
    const auto place = static_cast<std::uint32_t>(event.content >> 40U);
    event.content &= 0xFFFFU;
    histories[place].push_back(event);
    for (const Offspring& next : offspring(place, event, places)) push(next);
  }
  return histories;
}

Histories in_windows(std::uint32_t places, std::uint64_t shuffle, std::uint64_t step) {
  WindowQueue queue(kLookahead, places, shuffle);
  for (std::uint32_t i = 0; i < 200; ++i) queue.push(at(i * 7), i, i % places);
  Histories histories;
  SimTime stop = at(step);
  while (!queue.empty()) {
    if (begin(queue, stop) > stop) {
      stop += picoseconds(static_cast<std::int64_t>(step));
      continue;
    }
    while (queue.next_place()) {
      while (queue.more()) {
        const Event event = queue.pop();
        histories[queue.place()].push_back(event);
        for (const Offspring& next : offspring(queue.place(), event, places)) {
          queue.push(next.at, next.content, next.place);
        }
      }
    }
  }
  return histories;
}

TEST(WindowQueue, each_place_has_the_history_that_it_has_in_one_queue) {
  for (const std::uint32_t places : {1U, 2U, 7U, 100U}) {
    for (const std::uint64_t shuffle : {0ULL, 0x123'4567'89AB'CDEFULL}) {
      const Histories expected = in_one_queue(places, shuffle);
      for (const std::uint64_t step : {13U, 100U, 100'000U}) {
        EXPECT_EQ(in_windows(places, shuffle, step), expected);
      }
    }
  }
}

}  // namespace
}  // namespace weft::window_queue_test
