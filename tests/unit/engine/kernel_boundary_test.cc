// What lies between a kernel and the next.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/engine/simulated.h"

namespace weft::kernel_boundary_test {
namespace {

TEST(KernelBoundary, waits_for_the_slowest_wg) {
  // Three WGs of 1 us and one of 3 us, then 2 us of launch, then one of 1 us: 3 + 2 + 1.
  HandMade made;
  const std::uint32_t fast = made.takes(microseconds(1));
  const std::uint32_t slow = made.takes(microseconds(3));
  const KernelId first = made.kernel(plain(0), {HandMade::item(fast), HandMade::item(slow),
                                                HandMade::item(fast), HandMade::item(fast)});
  Kernel second = plain(0);
  second.launch = microseconds(2);
  made.kernel(second, {HandMade::item(fast)}, {first});
  EXPECT_EQ(run(one_node(), made.graph).time, microseconds(6));
}

TEST(KernelBoundary, waits_for_all_kernels_before) {
  // 5 us on this GPU, 7 us on the other: the third begins after the later one.
  HandMade made;
  const std::uint32_t five = made.takes(microseconds(5));
  const std::uint32_t seven = made.takes(microseconds(7));
  const KernelId here = made.kernel(plain(0), {HandMade::item(five)});
  const KernelId there = made.kernel(plain(1), {HandMade::item(seven)});
  made.kernel(plain(0), {HandMade::item(five)}, {here, there});
  EXPECT_EQ(run(one_node(), made.graph).time, microseconds(12));
}

constexpr const char* kEmbedding = R"(
name: launches
cluster:
  base: clusters/node_4x_mi210
  gpu:
    launch: {host: 5 us, queue: 1.7 us, graph: 1.5 us}
workload:
  kind: embedding_all_to_all
  batch: 256
  tables_per_gpu: 8
  rows_per_table: 1000
  dim: 64
  pooling: 10
  rows_per_wg: 16
)";

Duration time_with(const std::string& launch, Mode mode) {
  return run(scenario_of(kEmbedding, {"run.launch=" + launch}), mode).time;
}

TEST(KernelBoundary, of_the_three_launches_differ_by_exactly_their_gaps) {
  // Bulk has two kernels one after the other, hence two gaps; fused has one. Nothing else moves:
  // host - queue = 3.3 us, queue - graph = 0.2 us.
  EXPECT_EQ(time_with("host", Mode::bulk) - time_with("queue", Mode::bulk), nanoseconds(2 * 3300));
  EXPECT_EQ(time_with("queue", Mode::bulk) - time_with("graph", Mode::bulk), nanoseconds(2 * 200));
  EXPECT_EQ(time_with("host", Mode::fused) - time_with("queue", Mode::fused), nanoseconds(3300));
  EXPECT_EQ(time_with("queue", Mode::fused) - time_with("graph", Mode::fused), nanoseconds(200));
}

TEST(KernelBoundary, a_collective_also_pays_its_startup) {
  // Two GPUs, 1 MB over 50 GB/s: gap 2 us + startup 3 us + copy of the first of four parts
  // 250 ps + 20 us + 500 ns + flag 4 us.
  const Scenario scenario =
      one_node({"cluster.gpu.launch.queue=2 us", "cluster.gpu.collective.simple.startup=3 us",
                "cluster.gpu.collective.channels=1", "cluster.gpu.collective.simple.step=4 us"});
  EXPECT_EQ(run(scenario).time, picoseconds(250) + nanoseconds(2000 + 3000 + 20'000 + 500 + 4000));
}

// GPU 0 works 1 us and sends to GPU 1, whose receiving kernel starts only after 50 us of other
// work and then has 5 us of its own to do. The message is there long before.
TEST(KernelBoundary, a_kernel_whose_flags_came_before_it_started_still_does_its_work) {
  HandMade made;
  const std::uint32_t one = made.takes(microseconds(1));
  const std::uint32_t five = made.takes(microseconds(5));
  const std::uint32_t fifty = made.takes(microseconds(50));
  const LatchId arrived = made.graph.add_latch(1);
  made.kernel(plain(0),
              {HandMade::item(one, made.sends({.to = 1, .size = 8, .arrives = arrived}))});
  const KernelId before = made.kernel(plain(1), {HandMade::item(fifty)});
  Kernel receiver = plain(1);
  receiver.finish = arrived;
  made.kernel(receiver, {HandMade::item(five)}, {before});
  const RunResult result = run(one_node(), made.graph);
  EXPECT_EQ(result.ending, Ending::finished);
  EXPECT_EQ(result.time, microseconds(55));
  EXPECT_TRUE(result.ledger.balanced());
}

}  // namespace
}  // namespace weft::kernel_boundary_test
