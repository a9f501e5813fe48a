// How the logical WGs of a persistent kernel come to its physical ones.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::work_lists_test {
namespace {

// Two physical WGs; the first item takes 10 us, five more take 1 us each.
Duration time_of(WorkList list) {
  HandMade made;
  const std::uint32_t slow = made.takes(microseconds(10));
  const std::uint32_t fast = made.takes(microseconds(1));
  std::vector<Item> items(6, HandMade::item(fast));
  items[0] = HandMade::item(slow);
  made.kernel(persistent(0, 2, list), items);
  return run(one_node(), made.graph).time;
}

TEST(WorkLists, dynamic_let_the_others_do_what_a_slow_wg_leaves) {
  // Physical WG 0 has the slow item, WG 1 does the five others: max(10, 5).
  EXPECT_EQ(time_of(WorkList::dynamic_list), microseconds(10));
}

TEST(WorkLists, static_leave_it_to_the_slow_wg) {
  // WG 0 has items 0, 2, 4: 10 + 1 + 1.
  EXPECT_EQ(time_of(WorkList::static_list), microseconds(12));
}

TEST(WorkLists, run_in_no_more_wgs_than_fit) {
  // A grid of 100 on 4 places: 8 items of 1 us take 2 us.
  HandMade made;
  const std::uint32_t fast = made.takes(microseconds(1));
  made.kernel(persistent(0, 100, WorkList::static_list),
              std::vector<Item>(8, HandMade::item(fast)));
  EXPECT_EQ(run(one_node(), made.graph).time, microseconds(2));
}

TEST(WorkLists, static_wait_for_room_behind_another_kernel_and_lose_nothing) {
  // Three of four places are taken for 10 us. WG 0 does its items 0 and 4 and gives its place to WG
  // 1, that to WG 2, that to WG 3: two items each, done at 8 us.
  HandMade made;
  const std::uint32_t ten = made.takes(microseconds(10));
  const std::uint32_t one = made.takes(microseconds(1));
  made.kernel(plain(0), std::vector<Item>(3, HandMade::item(ten)));
  made.kernel(persistent(0, 4, WorkList::static_list), std::vector<Item>(8, HandMade::item(one)));
  const RunResult result = run(one_node(), made.graph);
  EXPECT_EQ(result.time, microseconds(10));
  EXPECT_EQ(result.ledger.wgs.done, 3 + 8);
  EXPECT_TRUE(result.ledger.balanced());
}

// Of four places `taken` are taken for 30 us; a grid of four WGs has `items` of 1 us.
Duration end_beside(int taken, std::size_t items) {
  HandMade made;
  const std::uint32_t thirty = made.takes(microseconds(30));
  const std::uint32_t one = made.takes(microseconds(1));
  if (taken > 0) {
    made.kernel(plain(0),
                std::vector<Item>(static_cast<std::size_t>(taken), HandMade::item(thirty)));
  }
  const KernelId second = made.kernel(persistent(0, 4, WorkList::first_static),
                                      std::vector<Item>(items, HandMade::item(one)));
  made.graph.kernels[second].op =
      made.graph.operators.push_back({.name = "second", .role = KernelRole::compute});
  const RunResult result = run(one_node(), made.graph);
  EXPECT_TRUE(result.ledger.balanced());
  return result.operators[1].last_end - SimTime{};
}

TEST(WorkLists, of_libraries_do_the_first_items_of_wgs_without_room_when_the_others_have_ended) {
  // One place: WG 0 does items 0, 4 ... 7, then its place is WG 1's, 2's and 3's for one item each.
  EXPECT_EQ(end_beside(3, 8), microseconds(8));
  // Two places: WGs 0 and 1 do six items in 3 us, then 2 and 3 the items of their numbers.
  EXPECT_EQ(end_beside(2, 8), microseconds(4));
  // Three places: seven others of 8 items in 3 us (3 + 3 + 1), though two places are free after 2;
  // ceil((8 - 1) / 3) + 1.
  EXPECT_EQ(end_beside(1, 8), microseconds(4));
  EXPECT_EQ(end_beside(0, 8), microseconds(2));
}

TEST(WorkLists, of_libraries_give_a_slow_wgs_items_to_the_others) {
  // Of the grid of two, WG 0 has the slow item 0, WG 1 item 1 and all the others.
  EXPECT_EQ(time_of(WorkList::first_static), microseconds(10));
}

TEST(WorkLists, dynamic_need_not_wait_for_room) {
  // The same: the one WG that fits does all eight items in 8 us.
  HandMade made;
  const std::uint32_t ten = made.takes(microseconds(10));
  const std::uint32_t one = made.takes(microseconds(1));
  made.kernel(plain(0), std::vector<Item>(3, HandMade::item(ten)));
  made.kernel(persistent(0, 4), std::vector<Item>(8, HandMade::item(one)));
  const RunResult result = run(one_node(), made.graph);
  EXPECT_EQ(result.time, microseconds(10));
  EXPECT_TRUE(result.ledger.balanced());
}

}  // namespace
}  // namespace weft::work_lists_test
