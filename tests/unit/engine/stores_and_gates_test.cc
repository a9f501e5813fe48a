// Stores into a peer, and who waits for their flags. one_node(): 50 GB/s (1 MB is 20 us), 500 ns.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::stores_and_gates_test {
namespace {

std::size_t index_of(Wait wait) { return static_cast<std::size_t>(wait); }

struct Stores {
  HandMade made;
  // GPU 0: one WG that `count` times works 1 us and stores 1 MB into GPU 1.
  Stores(Kernel kernel, std::uint32_t count) {
    const std::uint32_t work = made.takes(microseconds(1));
    const std::uint32_t nothing = made.takes({});
    const LatchId arrived = made.graph.add_latch(count);
    std::vector<Item> items;
    for (std::uint32_t i = 0; i < count; ++i) {
      items.push_back(
          HandMade::item(work, made.sends({.to = 1, .size = 1'000'000, .arrives = arrived})));
    }
    made.kernel(kernel, items);
    Kernel receiver = persistent(1, 1);
    receiver.finish = arrived;
    made.kernel(receiver, {HandMade::item(nothing)});
  }
};

TEST(Stores, that_are_fenced_hold_the_wg_until_they_are_known_to_have_arrived) {
  // 1 us of work, 20 us on the link, 500 ns to the peer, fence (the word of it) 2 us: 23.5 us each.
  // The last message is there at 2 x 23.5 + 1 + 20 us + 500 ns.
  Kernel kernel = persistent(0, 1);
  kernel.fenced = true;
  const RunResult result =
      run(one_node({"cluster.gpu.peer_store.fence=2 us"}), Stores(kernel, 3).made.graph);
  EXPECT_EQ(result.gpus[0].end, SimTime{} + nanoseconds(3 * 23'500));
  EXPECT_EQ(result.gpus[0].waits[index_of(Wait::store)], nanoseconds(3 * 22'500));
  EXPECT_EQ(result.gpus[1].end, SimTime{} + nanoseconds(2 * 23'500 + 21'500));
}

TEST(Stores, that_are_not_fenced_overlap_with_the_next_work) {
  // The next store waits until the one before has left: 1 us, then 20 us each. The WG is through
  // when its third store is given away at 41 us.
  const RunResult result = run(one_node(), Stores(persistent(0, 1), 3).made.graph);
  EXPECT_EQ(result.gpus[0].end, SimTime{} + microseconds(41));
  EXPECT_EQ(result.gpus[0].waits[index_of(Wait::store)], microseconds(2 * 19));
  EXPECT_EQ(result.gpus[1].end, SimTime{} + microseconds(61) + nanoseconds(500));
}

TEST(Stores, of_one_wg_are_no_faster_than_its_rate) {
  // 10 GB/s of a link of 50: 1 MB leaves in 100 us, not 20, and is there 500 ns later; no fence.
  Kernel kernel = persistent(0, 1);
  kernel.fenced = true;
  kernel.store_rate = gigabytes_per_second(10);
  const RunResult result = run(one_node(), Stores(kernel, 1).made.graph);
  EXPECT_EQ(result.gpus[0].end, SimTime{} + nanoseconds(101'500));
}

TEST(Stores, slower_than_a_degraded_link_do_not_feel_it) {
  // The link has 25 of its 50 GB/s, 1 MB takes it 40 us; the WG stores for 100 us all the same.
  Kernel kernel = persistent(0, 1);
  kernel.fenced = true;
  kernel.store_rate = gigabytes_per_second(10);
  const Scenario degraded =
      one_node({"cluster.degraded_links=[{link: 'node0 0->1', bandwidth: 0.5}]"});
  const RunResult result = run(degraded, Stores(kernel, 1).made.graph);
  EXPECT_EQ(result.gpus[0].end, SimTime{} + nanoseconds(101'500));
}

TEST(Stores, have_not_arrived_before_the_wg_has_stored_them) {
  // The last byte leaves the WG at 1 + 100 us and is at the peer a latency later.
  Kernel kernel = persistent(0, 1);
  kernel.fenced = true;
  kernel.store_rate = gigabytes_per_second(10);
  const RunResult result = run(one_node(), Stores(kernel, 1).made.graph);
  EXPECT_GE(result.gpus[1].end, SimTime{} + microseconds(101) + nanoseconds(500));
}

TEST(Gates, open_when_the_message_is_there_and_the_poll_has_seen_it) {
  // GPU 1's WG waits for 1 MB that GPU 0 stores at 1 us: 1 + 20 us + 500 ns, poll 300 ns, then its
  // own 7 us.
  HandMade made;
  const std::uint32_t one = made.takes(microseconds(1));
  const std::uint32_t seven = made.takes(microseconds(7));
  const LatchId arrived = made.graph.add_latch(1);
  made.kernel(persistent(0, 1),
              {HandMade::item(one, made.sends({.to = 1, .size = 1'000'000, .arrives = arrived}))});
  Kernel waiting = persistent(1, 1);
  waiting.flag = nanoseconds(300);
  made.kernel(waiting, {HandMade::item(seven, LatchId::none(), arrived)});
  const RunResult result = run(one_node(), made.graph);
  EXPECT_EQ(result.gpus[1].waits[index_of(Wait::flag)], nanoseconds(21'800));
  EXPECT_EQ(result.gpus[1].end, SimTime{} + nanoseconds(28'800));
}

TEST(Gates, that_are_open_already_cost_nothing) {
  HandMade made;
  const std::uint32_t one = made.takes(microseconds(1));
  const std::uint32_t thirty = made.takes(microseconds(30));
  const LatchId arrived = made.graph.add_latch(1);
  made.kernel(persistent(0, 1),
              {HandMade::item(one, made.sends({.to = 1, .size = 1'000'000, .arrives = arrived}))});
  Kernel waiting = persistent(1, 1);
  waiting.flag = nanoseconds(300);
  made.kernel(waiting, {HandMade::item(thirty), HandMade::item(one, LatchId::none(), arrived)});
  const RunResult result = run(one_node(), made.graph);
  EXPECT_EQ(result.gpus[1].waits[index_of(Wait::flag)], Duration{});
  EXPECT_EQ(result.gpus[1].end, SimTime{} + microseconds(31));
}

TEST(Gates, let_every_waiting_wg_go) {
  // Three WGs wait for the same message, 8 B: 1 us + 160 ps + 500 ns, then 7 us each, at once.
  HandMade made;
  const std::uint32_t one = made.takes(microseconds(1));
  const std::uint32_t seven = made.takes(microseconds(7));
  const LatchId arrived = made.graph.add_latch(1);
  made.kernel(persistent(0, 1),
              {HandMade::item(one, made.sends({.to = 1, .size = 8, .arrives = arrived}))});
  made.kernel(persistent(1, 3),
              std::vector<Item>(3, HandMade::item(seven, LatchId::none(), arrived)));
  EXPECT_EQ(run(one_node(), made.graph).time, picoseconds(8'500'160));
}

TEST(Slices, leave_when_their_last_wg_is_done) {
  // Three WGs of 1, 5 and 3 us: 1 MB leaves at 5 us.
  HandMade made;
  const std::vector<Duration> times{microseconds(1), microseconds(5), microseconds(3)};
  const std::uint32_t nothing = made.takes({});
  const LatchId arrived = made.graph.add_latch(1);
  const LatchId slice = made.graph.add_latch(3);
  made.graph.add_send({.to = 1, .size = 1'000'000, .arrives = arrived});
  std::vector<Item> items;
  for (const Duration time : times) items.push_back(HandMade::item(made.takes(time), slice));
  made.kernel(persistent(0, 3), items);
  Kernel receiver = persistent(1, 1);
  receiver.finish = arrived;
  made.kernel(receiver, {HandMade::item(nothing)});
  EXPECT_EQ(run(one_node(), made.graph).time, microseconds(25) + nanoseconds(500));
}

}  // namespace
}  // namespace weft::stores_and_gates_test
