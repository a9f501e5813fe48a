// Items that are alike are stored once, and found as if each were stored.
#include "sim/tasks/item_runs.h"

#include <gtest/gtest.h>

#include "tests/unit/engine/simulated.h"

namespace weft::item_runs_test {
namespace {

Item item(std::uint32_t scale) { return {.scale = scale & 0xFFFFFFU}; }

// Of all items of a kernel, one by one.
std::vector<std::uint32_t> scales(const ItemRuns& items, const ItemRange& kernel) {
  std::vector<std::uint32_t> scales;
  for (std::uint32_t i = 0; i < kernel.items; ++i) {
    scales.push_back(items[items.run_of(kernel, i)].scale);
  }
  return scales;
}

// The same, run by run.
std::vector<std::uint32_t> scales_of_runs(const ItemRuns& items, const ItemRange& kernel) {
  std::vector<std::uint32_t> scales;
  items.for_each(kernel, [&](const Item& item, std::uint32_t count) {
    scales.insert(scales.end(), count, item.scale);
  });
  return scales;
}

std::vector<std::uint32_t> times(std::uint32_t count, std::uint32_t scale) {
  return std::vector<std::uint32_t>(count, scale);
}

TEST(ItemRuns, of_a_kernel_whose_items_are_alike_are_one) {
  ItemRuns items;
  for (int i = 0; i < 1000; ++i) items.add(item(1));
  items.add(item(1), 1000);
  EXPECT_EQ(items.added(), 2000U);
  const ItemRange kernel = items.close();
  EXPECT_EQ(kernel.items, 2000U);
  EXPECT_EQ(items.size(), 2000U);
  EXPECT_EQ(items.runs().size(), 1U);
  EXPECT_TRUE(items.ends().empty());
  EXPECT_EQ(scales(items, kernel), times(2000, 1));
  EXPECT_EQ(scales_of_runs(items, kernel), times(2000, 1));
}

TEST(ItemRuns, of_a_kernel_with_a_few_are_found_by_their_ends) {
  ItemRuns items;
  items.add(item(1), 5);
  items.add(item(2), 1);
  items.add(item(3), 6);
  const ItemRange kernel = items.close();
  EXPECT_EQ(items.runs().size(), 3U);
  EXPECT_EQ(items.ends().size(), 3U);
  EXPECT_EQ(scales(items, kernel),
            (std::vector<std::uint32_t>{1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3, 3}));
  EXPECT_EQ(scales_of_runs(items, kernel), scales(items, kernel));
}

TEST(ItemRuns, that_are_short_are_stored_item_by_item) {
  ItemRuns items;
  items.add(item(1), 3);
  items.add(item(2), 1);
  items.add(item(3), 2);
  const ItemRange kernel = items.close();
  EXPECT_EQ(items.runs().size(), 6U);
  EXPECT_TRUE(items.ends().empty());
  EXPECT_EQ(scales(items, kernel), (std::vector<std::uint32_t>{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(scales_of_runs(items, kernel), scales(items, kernel));
}

TEST(ItemRuns, end_where_a_kernel_ends) {
  ItemRuns items;
  items.add(item(1), 100);
  const ItemRange first = items.close();
  items.add(item(1), 50);
  items.add(item(2), 50);
  const ItemRange second = items.close();
  items.add(item(2), 3);
  items.add(item(4), 1);
  const ItemRange third = items.close();
  items.add(item(4), 8);
  items.add(item(5), 8);
  const ItemRange fourth = items.close();
  EXPECT_EQ(scales(items, first), times(100, 1));
  EXPECT_EQ(scales(items, second).at(49), 1U);
  EXPECT_EQ(scales(items, second).at(50), 2U);
  EXPECT_EQ(scales(items, third), (std::vector<std::uint32_t>{2, 2, 2, 4}));
  EXPECT_EQ(scales(items, fourth).at(7), 4U);
  EXPECT_EQ(scales(items, fourth).at(8), 5U);
  EXPECT_EQ(items.size(), 220U);
}

TEST(ItemRuns, of_no_items_add_nothing) {
  ItemRuns items;
  items.add(item(1), 0);
  EXPECT_EQ(items.added(), 0U);
  EXPECT_TRUE(items.empty());
}

// A kernel of many items that open a latch together, and a few others.
struct Graph : HandMade {
  explicit Graph(std::uint32_t target) {
    const std::uint32_t short_one = takes(microseconds(1));
    const std::uint32_t long_one = takes(microseconds(7));
    graph.items.add(item(short_one, graph.add_latch(target)), 1000);
    graph.items.add(item(long_one), 20);
    graph.add_kernel(plain(0), {});
  }
};

TEST(TaskGraph, with_runs_verifies_where_all_items_of_a_run_count_its_latch_down) {
  Graph(1000).graph.verify();
}

TEST(TaskGraphDeathTest, whose_run_counts_a_latch_down_too_often_or_too_rarely_is_a_bug) {
  EXPECT_DEATH(Graph(999).graph.verify(), "");
  EXPECT_DEATH(Graph(1001).graph.verify(), "");
}

TEST(TaskGraph, looks_for_a_longer_item_in_every_run) {
  const TaskGraph graph = Graph(1000).graph;
  EXPECT_TRUE(graph.has_longer_item(microseconds(6)));
  EXPECT_FALSE(graph.has_longer_item(microseconds(7)));
}

TEST(TaskGraph, prints_the_sends_of_a_run_once) {
  HandMade made;
  const std::uint32_t work = made.takes(microseconds(1));
  const LatchId latch = made.graph.add_latch(1000);
  made.graph.add_send({.to = 1, .size = 64});
  made.graph.items.add(HandMade::item(work, latch), 1000);
  made.graph.add_kernel(plain(0), {});
  EXPECT_NE(to_text(made.graph).find("1000 WGs on CUs, sends 1 messages of 64 B"),
            std::string::npos);
}

}  // namespace
}  // namespace weft::item_runs_test
