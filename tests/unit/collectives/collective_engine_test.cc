// All-reduces of inference engines: which kernel a call gets, and what it takes, by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::collective_engine_test {
namespace {

// 4 WGs of 64 threads: 4 x 1 KiB are loaded in a round.
constexpr const char* kEngine =
    "cluster.gpu.collective.engine={startup: 1 us, load: 2 us, fence: 3 us, wgs: 4, threads: 64, "
    "rows: [{gpus: 4, one_shot_below: 8 KiB, two_shot_below: 64 KiB}]}";

Scenario all_reduce(int gpus, const std::string& size, const std::string& algorithm,
                    const std::string& cluster = "node_4x_h200") {
  return scenario_of("name: engine\ncluster: {base: clusters/" + cluster +
                         ", gpus_per_node: " + std::to_string(gpus) +
                         "}\nworkload: {kind: collective, op: all_reduce, bytes: " + size +
                         "}\ncollective: {algorithm: " + algorithm + "}\n",
                     {kEngine, "cluster.gpu.gather.doubling=0 ns"});
}

std::string way(const Scenario& scenario) {
  const TaskGraph graph = lower(scenario, build_cluster(scenario.cluster), Mode::bulk);
  const std::string name = graph.operators[OperatorId(0)].name;
  return name.substr(name.find('('));
}

double time_us(const Scenario& scenario) { return to_microseconds(run(scenario).time); }

TEST(CollectiveOfEngine, its_rows_say_which_kernel_a_size_gets) {
  EXPECT_EQ(way(all_reduce(4, "8191 B", "engine")), "(engine, one_shot)");
  EXPECT_EQ(way(all_reduce(4, "8 KiB", "engine")), "(engine, two_shot)");
  EXPECT_EQ(way(all_reduce(4, "64 KiB", "engine")), way(all_reduce(4, "64 KiB", "library")));
  EXPECT_EQ(way(all_reduce(2, "1 KiB", "engine")), "(engine, one_shot)");
}

TEST(CollectiveOfEngine, groups_larger_than_its_rows_are_the_librarys) {
  EXPECT_EQ(way(all_reduce(6, "1 KiB", "engine")), way(all_reduce(6, "1 KiB", "library")));
}

TEST(CollectiveOfEngine, a_kernel_can_be_named) {
  EXPECT_EQ(way(all_reduce(4, "1 MiB", "engine_one_shot")), "(engine, one_shot)");
  EXPECT_EQ(way(all_reduce(4, "1 KiB", "engine_two_shot")), "(engine, two_shot)");
}

// Between nodes, and where nothing is added up, the library does it.
TEST(CollectiveOfEngine, the_rest_is_the_librarys) {
  const auto call = [](const std::string& cluster, const std::string& op, const char* algorithm) {
    return way(scenario_of("name: engine\ncluster: {base: clusters/" + cluster +
                           "}\nworkload: {kind: collective, bytes: 64 KiB, op: " + op +
                           "}\ncollective: {algorithm: " + algorithm + "}\n"));
  };
  EXPECT_EQ(call("node_4x_h200", "all_gather", "engine"),
            call("node_4x_h200", "all_gather", "library"));
  EXPECT_EQ(call("nodes_16x_8x_h100", "all_reduce", "engine"),
            call("nodes_16x_8x_h100", "all_reduce", "library"));
}

// 4 KiB in one round, 8 KiB in two: each is a load of 2 us; the bytes are on the link for 3 ns.
TEST(CollectiveOfEngine, one_shot_takes_a_load_a_round) {
  const double one = time_us(all_reduce(2, "4 KiB", "engine_one_shot"));
  EXPECT_NEAR(time_us(all_reduce(2, "8 KiB", "engine_one_shot")) - one, 2, 0.03);
  EXPECT_NEAR(time_us(all_reduce(2, "40 KiB", "engine_one_shot")) - one, 9 * 2, 0.2);
}

// Startup, flags, load, flags. A flag takes 2 links of 444 ns; a kernel launched alone begins after
// launch.queue.
TEST(CollectiveOfEngine, one_shot_is_start_flags_load_flags) {
  EXPECT_NEAR(time_us(all_reduce(2, "1 KiB", "engine_one_shot")), 1.411 + 1 + 2 * 0.888 + 2, 0.03);
}

// With n ranks: the same, 3 us more for the second flags, and n - 1 loads of sums one by one
// instead of none.
TEST(CollectiveOfEngine, two_shot_loads_the_sums_of_one_peer_after_another) {
  for (const int gpus : {2, 4}) {
    const double one = time_us(all_reduce(gpus, "1 KiB", "engine_one_shot"));
    EXPECT_NEAR(time_us(all_reduce(gpus, "1 KiB", "engine_two_shot")) - one, 3 + (gpus - 1) * 2,
                0.05)
        << gpus;
  }
}

// A thread that has three loads in flight waits log2(3) doublings longer.
TEST(CollectiveOfEngine, more_peers_are_more_loads_in_flight) {
  Scenario two = all_reduce(2, "1 KiB", "engine_one_shot");
  Scenario four = all_reduce(4, "1 KiB", "engine_one_shot");
  two.cluster.gpu.gather.doubling = four.cluster.gpu.gather.doubling = nanoseconds(1'000);
  EXPECT_NEAR(time_us(four) - time_us(two), 1.585, 0.03);
}

// Link-bound: 7 x 64 MiB arrive over 358 GB/s in 1312 us; each WG has 32 KiB of rounds put
// together.
TEST(CollectiveOfEngine, a_large_one_is_bound_by_the_link) {
  Scenario large = all_reduce(8, "64 MiB", "engine_one_shot");
  large.cluster.gpu.collective.engine->wgs = 132;
  large.cluster.gpu.collective.engine->threads = 512;
  EXPECT_NEAR(time_us(large), 1312, 0.03 * 1312);
}

TEST(CollectiveOfEngine, is_refused_where_no_engine_is_known) {
  const Loaded loaded = load_scenario_text(
      "name: e\ncluster: {base: clusters/node_8x_mi300x}\nworkload: {kind: collective, op: "
      "all_reduce, bytes: 1 KiB}\ncollective: {algorithm: engine}\n",
      "e.yaml", {.sets = {}, .config_dirs = {WEFT_SOURCE_DIR "/configs"}});
  ASSERT_FALSE(loaded.scenario);
  EXPECT_NE(loaded.problems.to_text().find("no inference engine's all-reduces are known"),
            std::string::npos);
}

}  // namespace
}  // namespace weft::collective_engine_test
