// Kernels of several streams on one GPU: masks, priorities, turns. Each WG takes 10 us.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::streams_test {
namespace {

Scenario cus_of_one_wg(const std::string& cus, const std::string& arbitration = "in_order") {
  return one_node({"cluster.gpu.cus=" + cus, "cluster.gpu.cu.wgs=1",
                   "cluster.gpu.launch.arbitration=" + arbitration});
}

struct Streams {
  HandMade made;
  std::uint32_t work = made.takes(microseconds(10));

  // A kernel of GPU 0 of so many WGs, an operator of its own.
  void add(Kernel kernel, std::uint32_t wgs) {
    if (!made.graph.kernels.empty()) made.graph.operators.push_back({.name = "another"});
    kernel.op = OperatorId(static_cast<std::uint32_t>(made.graph.kernels.size()));
    made.kernel(kernel, std::vector<Item>(wgs, HandMade::item(work)));
  }
  [[nodiscard]] std::vector<std::int64_t> ends_us(const Scenario& scenario) const {
    std::vector<std::int64_t> ends;
    for (const OperatorUse& use : run(scenario, made.graph).operators) {
      ends.push_back((use.last_end - SimTime{}).count() / 1'000'000);
    }
    return ends;
  }
};
using Ends = std::vector<std::int64_t>;

Kernel masked(std::uint32_t first, std::uint32_t count) {
  Kernel kernel = plain(0);
  kernel.cus = {.first = first, .count = count};
  return kernel;
}

Kernel urgent(int priority, Duration launch = {}) {
  Kernel kernel = plain(0);
  kernel.priority = priority;
  kernel.launch = launch;
  return kernel;
}

TEST(CuMasks, hold_a_kernel_to_their_cus) {
  // 4 WGs on 2 of 4 CUs: two after two. On all 4 they would take 10 us.
  Streams streams;
  streams.add(masked(0, 2), 4);
  EXPECT_EQ(streams.ends_us(cus_of_one_wg("4")), (Ends{20}));
}

TEST(CuMasks, that_do_not_meet_keep_kernels_apart) {
  // 4 WGs on 1 CU and 3 on the other 3. Unmasked, the first kernel would hold all 4 CUs for 10 us.
  Streams streams;
  streams.add(masked(0, 1), 4);
  streams.add(masked(1, 3), 3);
  EXPECT_EQ(streams.ends_us(cus_of_one_wg("4")), (Ends{40, 10}));
}

TEST(CuMasks, bound_the_grid_of_a_persistent_kernel) {
  // 6 items for a grid of 2.
  Streams streams;
  Kernel kernel = persistent(0, 100);
  kernel.cus = {.first = 2, .count = 2};
  streams.add(kernel, 6);
  EXPECT_EQ(streams.ends_us(cus_of_one_wg("4")), (Ends{30}));
}

TEST(Streams, of_one_priority_go_in_the_order_of_their_launch) {
  Streams streams;
  streams.add(plain(0), 3);
  streams.add(plain(0), 3);
  EXPECT_EQ(streams.ends_us(cus_of_one_wg("1")), (Ends{30, 60}));
}

TEST(Streams, of_one_priority_take_turns_where_the_gpu_has_them_do_so) {
  // A B A B A B.
  Streams streams;
  streams.add(plain(0), 3);
  streams.add(plain(0), 3);
  EXPECT_EQ(streams.ends_us(cus_of_one_wg("1", "round_robin")), (Ends{50, 60}));
}

TEST(Streams, three_take_turns) {
  // A B C A B C A.
  Streams streams;
  streams.add(plain(0), 3);
  streams.add(plain(0), 2);
  streams.add(plain(0), 2);
  EXPECT_EQ(streams.ends_us(cus_of_one_wg("1", "round_robin")), (Ends{70, 50, 60}));
}

TEST(Streams, of_higher_priority_get_the_next_place_but_stop_no_wg) {
  // The urgent kernel comes at 5 us, gets the place at 10 us, and the other goes on at 20 us.
  Streams streams;
  streams.add(urgent(0), 3);
  streams.add(urgent(1, microseconds(5)), 1);
  EXPECT_EQ(streams.ends_us(cus_of_one_wg("1")), (Ends{40, 20}));
  EXPECT_EQ(streams.ends_us(cus_of_one_wg("1", "round_robin")), (Ends{40, 20}));
}

TEST(Streams, of_lower_priority_get_what_is_left) {
  Streams streams;
  streams.add(urgent(0), 2);
  streams.add(urgent(1), 3);
  EXPECT_EQ(streams.ends_us(cus_of_one_wg("1", "round_robin")), (Ends{50, 30}));
}

// GPU 0 works 10 us and sends 50 B (1 ns on the link, 500 ns); GPU 1 waits.
struct Flagged {
  HandMade made;
  Flagged(Duration flag, bool as_item) {
    const LatchId arrived = made.graph.add_latch(1);
    made.kernel(persistent(0, 1),
                {HandMade::item(made.takes(microseconds(10)),
                                made.sends({.to = 1, .size = 50, .arrives = arrived}))});
    Kernel waits = persistent(1, 1);
    waits.flag = flag;
    if (!as_item) waits.finish = arrived;
    made.kernel(waits, {HandMade::item(made.takes({}), LatchId::none(),
                                       as_item ? arrived : LatchId::none())});
  }
};

TEST(Flags, are_seen_by_each_kernel_after_its_own_delay) {
  for (const bool as_item : {false, true}) {
    for (const Duration flag : {Duration{}, nanoseconds(300), microseconds(2)}) {
      EXPECT_EQ(run(one_node(), Flagged(flag, as_item).made.graph).gpus[1].end,
                SimTime{} + nanoseconds(10'501) + flag);
    }
  }
}

}  // namespace
}  // namespace weft::streams_test
