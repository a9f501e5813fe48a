// The all-to-all by copy engines: four fully connected GPUs, 50 GB/s and 500 ns a link, engines of
// 10 GB/s, 5 us a command. 1 MB a pair: 100 us on an engine, 20 us on a link.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/engine/simulated.h"

namespace weft {
namespace {

RunResult run_with_engines(int engines) {
  return run(scenario_of(R"(
name: copy engines
cluster:
  name: node
  nodes: 1
  gpus_per_node: 4
  gpu: {base: gpus/ideal, cus: 4, dma: {rate: 10 GB/s, schedule: 5 us, engines: )" +
                         std::to_string(engines) + R"(}}
  scale_up: {shape: fully_connected, link: {bandwidth: 50 GB/s, latency: 500 ns}}
workload: {kind: all_to_all, bytes_per_pair: 1 MB}
collective: {executor: dma}
)"));
}

TEST(CopyEngines, one_for_each_peer_copy_at_the_same_time) {
  // Command, copy, the last byte's way: 5 + 100 + 20 us + 500 ns.
  EXPECT_EQ(run_with_engines(3).time, nanoseconds(125'500));
}

TEST(CopyEngines, a_single_one_copies_to_one_peer_after_another) {
  // 3 x (5 + 100) + 20 us + 500 ns.
  EXPECT_EQ(run_with_engines(1).time, nanoseconds(335'500));
}

TEST(CopyEngines, use_no_cu) { EXPECT_EQ(run_with_engines(3).gpus[0].cu_busy, Duration{}); }

TEST(CopyEngines, two_for_a_peer_need_a_command_each) {
  // Six engines: half of a pair's bytes each, two copies. Both are commands: 5 + 50 us, then both
  // halves cross the link, 2 x 10 us + 500 ns.
  EXPECT_EQ(run_with_engines(6).time, nanoseconds(75'500));
}

TEST(CopyEngines, work_while_wgs_fill_every_cu) {
  // A kernel fills GPU 0 for 500 us; the copies go on beside it and end when they would alone.
  const Scenario scenario = one_node({"cluster.gpu.dma.rate=10 GB/s"});
  HandMade made;
  const std::uint32_t busy = made.takes(microseconds(500));
  Work copy;
  copy.traffic = bytes(1'000'000);
  copy.memory_alone = microseconds(100);
  const std::uint32_t copying = made.add(copy);
  const std::uint32_t nothing = made.takes({});
  const LatchId arrived = made.graph.add_latch(1);
  made.kernel(plain(0), std::vector<Item>(4, HandMade::item(busy)));
  Kernel engine = persistent(0, 1);
  engine.executor = Executor::dma;
  made.kernel(engine, {HandMade::item(
                          copying, made.sends({.to = 1, .size = 1'000'000, .arrives = arrived}))});
  Kernel receiver = persistent(1, 1);
  receiver.finish = arrived;
  made.kernel(receiver, {HandMade::item(nothing)});
  const RunResult result = run(scenario, made.graph);
  EXPECT_EQ(result.gpus[1].end, SimTime{} + microseconds(120) + nanoseconds(500));
  EXPECT_EQ(result.time, microseconds(500));
}

}  // namespace
}  // namespace weft
