// Lists of events that share one store.
#include "sim/core/event_blocks.h"

#include <gtest/gtest.h>

namespace weft::event_blocks_test {
namespace {

void add(EventBlocks& blocks, EventBlocks::List& list, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    blocks.add(list, {.at_ps = first + i, .content = 7});
  }
}

std::vector<std::uint64_t> times(const EventBlocks::List& list) {
  std::vector<std::uint64_t> times;
  list.for_each([&times](std::span<const Event> events) {
    for (const Event& event : events) times.push_back(event.at_ps);
  });
  return times;
}

std::vector<std::uint64_t> from(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> times;
  for (std::uint64_t i = 0; i < count; ++i) times.push_back(first + i);
  return times;
}

TEST(EventBlocks, hold_lists_in_the_order_in_which_they_were_filled) {
  EventBlocks blocks;
  for (const std::uint64_t count : {0U, 1U, 63U, 64U, 65U, 128U, 1000U}) {
    EventBlocks::List list;
    add(blocks, list, 5, count);
    EXPECT_EQ(list.size(), count);
    EXPECT_EQ(times(list), from(5, count));
  }
}

TEST(EventBlocks, mix_no_lists_that_are_filled_in_turn) {
  EventBlocks blocks;
  EventBlocks::List one;
  EventBlocks::List other;
  for (std::uint64_t i = 0; i < 300; ++i) {
    add(blocks, one, i, 1);
    add(blocks, other, 1000 + i, 1);
  }
  EXPECT_EQ(times(one), from(0, 300));
  EXPECT_EQ(times(other), from(1000, 300));
}

// As they were.
std::vector<std::uint64_t> emptied(EventBlocks& blocks, EventBlocks::List& list) {
  std::vector<std::uint64_t> times;
  blocks.empty(list, [&times](std::span<const Event> events) {
    for (const Event& event : events) times.push_back(event.at_ps);
  });
  return times;
}

TEST(EventBlocks, that_were_emptied_are_filled_again) {
  EventBlocks blocks;
  EventBlocks::List kept;
  add(blocks, kept, 0, 100);
  for (std::uint64_t turn = 0; turn < 5; ++turn) {
    EventBlocks::List list;
    add(blocks, list, turn, 200 + turn);
    EXPECT_EQ(times(list), from(turn, 200 + turn));
    EXPECT_EQ(emptied(blocks, list), from(turn, 200 + turn));
    EXPECT_EQ(list.size(), 0U);
    EXPECT_TRUE(emptied(blocks, list).empty());
  }
  EXPECT_EQ(times(kept), from(0, 100));
  EXPECT_EQ(blocks.blocks(), 2U + 4U);
}

TEST(EventBlocks, of_a_list_that_is_moved_to_another_are_filled_again) {
  EventBlocks blocks;
  EventBlocks::List list;
  EventBlocks::List other;
  add(blocks, list, 0, 1000);
  const std::size_t before = blocks.blocks();
  blocks.empty(list, [&](std::span<const Event> events) {
    for (const Event& event : events) blocks.add(other, event);
  });
  EXPECT_EQ(times(other), from(0, 1000));
  EXPECT_EQ(blocks.blocks(), before + 1);
}

}  // namespace
}  // namespace weft::event_blocks_test
