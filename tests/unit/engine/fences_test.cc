// Release fences of the WGs of one CU. one_node(): 50 GB/s (50 B are 1 ns), 500 ns to the peer; the
// word of an arrival takes 2 us.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::fences_test {
namespace {

std::size_t index_of(Wait wait) { return static_cast<std::size_t>(wait); }

Scenario node(const char* fences, const char* cus) {
  return one_node({std::string("cluster.gpu.peer_store.fences=") + fences,
                   std::string("cluster.gpu.cus=") + cus, "cluster.gpu.cu.wgs=4",
                   "cluster.gpu.peer_store.fence=2 us"});
}

// WGs of GPU 0 that work so many microseconds each, and then store 50 B into GPU 1.
struct Fencing {
  HandMade made;
  explicit Fencing(const std::vector<int>& work, bool by_waves = false) {
    const auto count = static_cast<std::uint32_t>(work.size());
    const LatchId arrived = made.graph.add_latch(count);
    std::vector<Item> items;
    items.reserve(count);
    for (const int us : work) {
      items.push_back(HandMade::item(made.takes(microseconds(us)),
                                     made.sends({.to = 1, .size = 50, .arrives = arrived})));
    }
    Kernel kernel = persistent(0, count);
    kernel.fenced = true;
    kernel.waves_fence = by_waves;
    made.kernel(kernel, items);
    Kernel receiver = persistent(1, 1);
    receiver.finish = arrived;
    made.kernel(receiver, {HandMade::item(made.takes({}))});
  }
  [[nodiscard]] Duration waits(const Scenario& scenario) const {
    return run(scenario, made.graph).gpus[0].waits[index_of(Wait::store)];
  }
  [[nodiscard]] SimTime end(const Scenario& scenario) const {
    return run(scenario, made.graph).gpus[0].end;
  }
};

TEST(Fences, alone_wait_for_the_arrival_and_the_word_of_it) {
  // 1 us of work, 1 ns on the link, 500 ns, 2 us.
  const Fencing one({1});
  EXPECT_EQ(one.end(node("one_a_cu", "1")), SimTime{} + nanoseconds(3'501));
  EXPECT_EQ(one.end(node("independent", "1")), SimTime{} + nanoseconds(3'501));
}

TEST(Fences, independent_ones_do_not_see_each_other) {
  // Each waits 2,501 ns for its own store.
  EXPECT_EQ(Fencing({1, 2, 3}).waits(node("independent", "1")), nanoseconds(3 * 2'501));
}

TEST(Fences, that_come_while_one_is_under_way_share_the_next) {
  // The first ends at 3,501 ns. The stores of the other two, at 2 and 3 us, arrive at 2,501 and
  // 3,501 ns; their fence starts at 3,501 and goes there and back: 2,500 ns, to 6,001 ns.
  const Fencing three({1, 2, 3});
  EXPECT_EQ(three.end(node("one_a_cu", "1")), SimTime{} + nanoseconds(6'001));
  EXPECT_EQ(three.waits(node("one_a_cu", "1")), nanoseconds(2'501 + 4'001 + 3'001));
}

// As above; the two that share the second fence have waited for it, so it takes 2 x 100 ns longer.
TEST(Fences, that_others_waited_for_take_longer_for_each_of_them) {
  Scenario scenario = node("one_a_cu", "1");
  scenario.cluster.gpu.peer_store.fence_more = nanoseconds(100);
  EXPECT_EQ(Fencing({1, 2, 3}).end(scenario), SimTime{} + nanoseconds(6'201));
  EXPECT_EQ(Fencing({1}).end(scenario), SimTime{} + nanoseconds(3'501));
}

// A WG whose result stays fences at 1 us, to 3.5 us: 500 ns and 2 us as to a peer. The store of the
// other, at 2 us, has arrived long before its own fence ends, 2.5 us after that.
TEST(Fences, of_results_that_stay_are_fences_of_the_cu) {
  HandMade made;
  const LatchId arrived = made.graph.add_latch(1);
  Work own;
  own.fixed = microseconds(1);
  own.fenced = true;
  const std::uint32_t stays = made.add(own);
  const LatchId sent = made.sends({.to = 1, .size = 50, .arrives = arrived});
  Kernel kernel = persistent(0, 2);
  kernel.fenced = true;
  made.kernel(kernel, {HandMade::item(stays), HandMade::item(made.takes(microseconds(2)), sent)});
  Kernel receiver = persistent(1, 1);
  receiver.finish = arrived;
  made.kernel(receiver, {HandMade::item(made.takes({}))});
  EXPECT_EQ(run(node("one_a_cu", "1"), made.graph).gpus[0].waits[index_of(Wait::store)],
            nanoseconds(2'500 + 4'000));
  EXPECT_EQ(run(node("independent", "1"), made.graph).gpus[0].waits[index_of(Wait::store)],
            nanoseconds(2'501));
}

TEST(Fences, that_come_in_one_instant_wait_for_the_first_of_them) {
  // One finds the CU idle, the others come meanwhile: 3,502 ns as the first store on the link is
  // the first one's, then 2,500 ns.
  EXPECT_EQ(Fencing({1, 1, 1}).end(node("one_a_cu", "1")), SimTime{} + nanoseconds(6'001));
}

TEST(Fences, of_two_cus_do_not_see_each_other) {
  // WGs are dealt to the CUs in turn.
  EXPECT_EQ(Fencing({1, 2}).waits(node("one_a_cu", "2")), nanoseconds(2 * 2'501));
}

TEST(Fences, of_each_wave_are_two_where_the_cu_was_idle) {
  // The first wave's, to 3,501 ns, and that of all the others: 2,500 ns more.
  EXPECT_EQ(Fencing({1}, true).end(node("one_a_cu", "1")), SimTime{} + nanoseconds(6'001));
  // Independent, the waves wait for the same arrival.
  EXPECT_EQ(Fencing({1}, true).end(node("independent", "1")), SimTime{} + nanoseconds(3'501));
}

TEST(Fences, of_each_wave_that_find_one_under_way_are_one) {
  // The second WG's waves all wait for the first one's fence, and share the next with its others.
  EXPECT_EQ(Fencing({1, 2}, true).waits(node("one_a_cu", "1")), nanoseconds(5'001 + 4'001));
}

TEST(Fences, of_two_cus_end_so_far_apart) {
  // Both store at 1 us; alone they end at 3,501 ns. 40 ns apart, the second ends at 3,541 at least;
  // its store comes 1 ns behind the first one's.
  Scenario scenario = node("one_a_cu", "2");
  scenario.cluster.gpu.peer_store.fence_gap = nanoseconds(40);
  EXPECT_EQ(Fencing({1, 1}).waits(scenario), nanoseconds(2'501 + 2'541));
  scenario.cluster.gpu.peer_store.fence_gap = nanoseconds(0);
  EXPECT_EQ(Fencing({1, 1}).waits(scenario), nanoseconds(2'501 + 2'502));
}

// Three GPUs on a switch, 50 GB/s and 500 ns a link: 1 MB takes 20 us. GPU 1 sends 2 MB to GPU 2,
// whose link is so busy until 40.5 us; the copy of GPU 0's 1 MB for GPU 2 follows it, and is there
// at 61 us. Those for GPU 0 and 1 were at 21 us. The word of it takes 2 us.
TEST(Fences, of_copies_that_the_switch_makes_wait_for_the_last_of_them) {
  const Scenario three = one_node({"cluster.gpus_per_node=3", "cluster.scale_up.shape=switch",
                                   "cluster.scale_up.reduces=true", "workload.bytes=3 MB",
                                   "cluster.gpu.peer_store.fence=2 us"});
  HandMade made;
  const std::uint32_t nothing = made.takes({});
  const LatchId copies = made.graph.add_latch(1);  // GPU 0's, then those of 1 and 2
  made.graph.add_latch(1);
  made.graph.add_latch(1);
  const std::uint16_t group = made.graph.add_group({0, 1, 2});
  const LatchId stored = made.sends({.to = 2, .size = 2'000'000});
  const LatchId copied = made.sends({.to = 0,
                                     .size = 1'000'000,
                                     .arrives = copies,
                                     .group = group,
                                     .in_switch = InSwitch::multicasts});
  made.kernel(persistent(1, 1), {HandMade::item(nothing, stored)});
  Kernel kernel = persistent(0, 1);
  kernel.fenced = true;
  made.kernel(kernel, {HandMade::item(made.takes(nanoseconds(1)), copied)});
  EXPECT_EQ(run(three, made.graph).gpus[0].end, SimTime{} + microseconds(63));
}

}  // namespace
}  // namespace weft::fences_test
