// How a run ends: done, stuck, or at a limit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::endings_test {
namespace {

bool says(const RunResult& result, const std::string& words) {
  return result.stopped_because.find(words) != std::string::npos;
}

// GPU 0 sends when GPU 1 has sent, and GPU 1 when GPU 0 has.
TEST(Endings, a_deadlock_says_who_waits_for_whom) {
  HandMade made;
  const std::uint32_t work = made.takes(microseconds(1));
  const LatchId at_0 = made.graph.add_latch(1);
  const LatchId at_1 = made.graph.add_latch(1);
  const LatchId from_0 = made.sends({.to = 1, .size = 8, .arrives = at_1});
  const LatchId from_1 = made.sends({.to = 0, .size = 8, .arrives = at_0});
  made.kernel(persistent(0, 1), {HandMade::item(work), HandMade::item(work, from_0, at_0)});
  made.kernel(persistent(1, 1), {HandMade::item(work, from_1, at_1)});
  const RunResult result = run(one_node(), made.graph);
  EXPECT_EQ(result.ending, Ending::deadlock);
  EXPECT_FALSE(result.ledger.balanced());
  EXPECT_TRUE(says(result, "deadlock at 1.000 us; 2 kernels are not done"))
      << result.stopped_because;
  EXPECT_TRUE(says(result, "GPU 0, by_hand: 1 of 1 WGs are blocked")) << result.stopped_because;
  EXPECT_TRUE(says(
      result, "WG 1 waits for latch " + std::to_string(at_0.value) + ": 1 of 1 counts are missing"))
      << result.stopped_because;
  EXPECT_TRUE(says(result, "GPU 1, by_hand")) << result.stopped_because;
}

TEST(Endings, a_deadlock_names_the_flags_a_kernel_misses_and_who_waits_behind_it) {
  // GPU 1 needs a flag that GPU 0 would send after a kernel that waits for GPU 1's.
  HandMade made;
  const std::uint32_t work = made.takes(microseconds(1));
  const LatchId arrived = made.graph.add_latch(1);
  const LatchId out = made.sends({.to = 1, .size = 8, .arrives = arrived});
  Kernel receiver = persistent(1, 1);
  receiver.finish = arrived;
  const KernelId waits = made.kernel(receiver, {HandMade::item(work)});
  made.kernel(plain(0), {HandMade::item(work, out)}, {waits});
  const RunResult result = run(one_node(), made.graph);
  EXPECT_EQ(result.ending, Ending::deadlock);
  EXPECT_TRUE(says(result, "GPU 1, by_hand: waits for 1 of 1 flags from its peers"))
      << result.stopped_because;
  EXPECT_TRUE(says(result, "GPU 0, by_hand: waits for 1 kernels before it"))
      << result.stopped_because;
}

TEST(Endings, the_time_limit_is_named_and_met_to_the_picosecond) {
  Scenario scenario = one_node({"cluster.gpu.collective.channels=1"});
  const Duration time =
      picoseconds(250) + nanoseconds(20'000 + 500);  // first part's copy, transfer, latency
  scenario.run.max_time = time;
  EXPECT_EQ(run(scenario).ending, Ending::finished);
  scenario.run.max_time = time - picoseconds(1);
  const RunResult result = run(scenario);
  EXPECT_EQ(result.ending, Ending::time_limit);
  EXPECT_TRUE(says(result, "run.max_time")) << result.stopped_because;
}

TEST(Endings, an_item_longer_than_the_time_limit_is_not_begun) {
  // 10^9 s alone do not even fit a server's clock; the limit is 100 s.
  HandMade made;
  made.kernel(plain(0), {HandMade::item(made.takes(microseconds(1'000'000) * 1'000'000))});
  const RunResult result = run(one_node(), made.graph);
  EXPECT_EQ(result.ending, Ending::time_limit);
  EXPECT_EQ(result.events, 0U);
}

TEST(Endings, the_event_limit_is_named) {
  // Two messages and two kernels are more than three events.
  Scenario scenario = one_node();
  scenario.run.max_events = 3;
  const RunResult result = run(scenario);
  EXPECT_EQ(result.ending, Ending::event_limit);
  EXPECT_EQ(result.events, 3U);
  EXPECT_TRUE(says(result, "run.max_events")) << result.stopped_because;
}

TEST(Endings, a_run_that_needs_exactly_the_event_limit_finishes) {
  Scenario scenario = one_node();
  const std::uint64_t events = run(scenario).events;
  scenario.run.max_events = static_cast<std::int64_t>(events);
  EXPECT_EQ(run(scenario).ending, Ending::finished);
}

}  // namespace
}  // namespace weft::endings_test
