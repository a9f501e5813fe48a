// The all-to-all by copy engines: four fully connected GPUs, 50 GB/s and 500 ns a link, engines of
// 10 GB/s, 5 us until one is at work. 1 MB a pair: 100 us on an engine, 20 us on a link.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/engine/simulated.h"

namespace weft::copy_engines_test {
namespace {

RunResult run_with_engines(int engines, const std::string& further = "") {
  return run(scenario_of(R"(
name: copy engines
cluster:
  name: node
  nodes: 1
  gpus_per_node: 4
  gpu: {base: gpus/ideal, cus: 4, dma: {rate: 10 GB/s, schedule: 5 us, engines: )" +
                         std::to_string(engines) + further + R"(}}
  scale_up: {shape: fully_connected, link: {bandwidth: 50 GB/s, latency: 500 ns}}
workload: {kind: collective, op: all_to_all, bytes: 4 MB}
collective: {executor: dma}
)"));
}

// An engine streams: 1 MB in parts of 64 KiB, 15 and a last one of 16,960 B. What the link still
// has to do when the engine is done is the last part: 16,960 B / 50 GB/s = 339.2 ns, and 500 ns.
constexpr Duration kLastPart = picoseconds(339'200 + 500'000);

TEST(CopyEngines, one_for_each_peer_copy_at_the_same_time) {
  // Scheduled, copied, the last part's way: 5 + 100 us.
  EXPECT_EQ(run_with_engines(3).time, microseconds(105) + kLastPart);
}

TEST(CopyEngines, a_single_one_copies_to_one_peer_after_another) {
  // It finds the second and third command behind the first, which costs an ideal one nothing.
  EXPECT_EQ(run_with_engines(1).time, microseconds(5 + 3 * 100) + kLastPart);
}

TEST(CopyEngines, pay_for_every_command_that_they_find_behind_another) {
  EXPECT_EQ(run_with_engines(1, ", next: 2 us").time,
            microseconds(5 + 3 * 100 + 2 * 2) + kLastPart);
}

TEST(CopyEngines, use_no_cu) { EXPECT_EQ(run_with_engines(3).gpus[0].cu_busy, Duration{}); }

TEST(CopyEngines, more_than_there_are_peers_find_nothing_to_do) {
  EXPECT_EQ(run_with_engines(6).time, run_with_engines(3).time);
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
}  // namespace weft::copy_engines_test
