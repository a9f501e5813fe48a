// GPUs and links that are slower than the others.
#include "sim/workloads/stragglers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::stragglers_test {
namespace {

// On each of two GPUs one WG: 20 us before its work, then 1 MB in 10 us, a tenth of 1 TB/s.
TaskGraph two_wgs() {
  HandMade made;
  Work work;
  work.fixed = microseconds(20);
  work.traffic = bytes(1'000'000);
  work.memory_alone = microseconds(10);
  const std::uint32_t index = made.add(work);
  made.kernel(plain(0), {HandMade::item(index)});
  made.kernel(plain(1), {HandMade::item(index)});
  return made.graph;
}

RunResult run_two(const std::vector<std::string>& sets) {
  std::vector<std::string> all{"cluster.gpu.memory.bandwidth=1 TB/s"};
  all.insert(all.end(), sets.begin(), sets.end());
  const Scenario scenario = one_node(all);
  TaskGraph graph = two_wgs();
  slow_stragglers(graph, build_cluster(scenario.cluster));
  return run(scenario, graph);
}

TEST(Stragglers, of_a_slow_clock_take_that_much_longer_for_their_own_work) {
  const RunResult result = run_two({"cluster.stragglers=[{gpu: 1, clock: 0.5}]"});
  EXPECT_EQ(result.gpus[0].end, SimTime{} + microseconds(30));
  EXPECT_EQ(result.gpus[1].end, SimTime{} + microseconds(60));
  EXPECT_TRUE(result.ledger.balanced());
  EXPECT_EQ(result.gpus[1].hbm, bytes(1'000'000));
}

TEST(Stragglers, of_slow_memory_take_longer_where_it_is_full_only) {
  // A twentieth of it is left: half of what the WG asks for. 20 us + 10 us x 2.
  const RunResult slow = run_two({"cluster.stragglers=[{gpu: 1, memory: 0.05}]"});
  EXPECT_EQ(slow.gpus[0].end, SimTime{} + microseconds(30));
  EXPECT_EQ(slow.gpus[1].end, SimTime{} + microseconds(40));
  // A half is more than it asks for.
  const RunResult enough = run_two({"cluster.stragglers=[{gpu: 1, memory: 0.5}]"});
  EXPECT_EQ(enough.gpus[1].end, SimTime{} + microseconds(30));
}

TEST(Stragglers, hold_up_a_collective_of_all) {
  // The all-reduce needs what GPU 1 makes: all GPUs end later by as much as it is late, at least.
  const std::string file = "scenarios/gemv_ar_4_gpus.yaml";
  const RunResult sound = run(scenario_of_file(file));
  const RunResult slow = run(scenario_of_file(file, {"cluster.stragglers=[{gpu: 1, clock: 0.1}]"}));
  const Duration late = slow.gpus[1].computing - sound.gpus[1].computing;
  EXPECT_GT(late, microseconds(10));
  for (std::size_t gpu = 0; gpu < 4; ++gpu) {
    EXPECT_GE(slow.gpus[gpu].end, sound.gpus[gpu].end + late);
  }
  EXPECT_TRUE(slow.ledger.balanced());
}

}  // namespace
}  // namespace weft::stragglers_test
