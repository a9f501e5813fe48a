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
}

TEST(CollectiveOfEngine, groups_of_other_numbers_than_its_rows_are_the_librarys) {
  EXPECT_EQ(way(all_reduce(6, "1 KiB", "engine")), way(all_reduce(6, "1 KiB", "library")));
  EXPECT_EQ(way(all_reduce(3, "1 KiB", "engine")), way(all_reduce(3, "1 KiB", "library")));
}

// All that a choice leads to, not only its name: the library divides a call for itself otherwise.
TEST(CollectiveOfEngine, what_the_library_has_to_try_takes_as_long_as_by_the_library) {
  const auto time = [](const std::string& cluster, const std::string& bytes, const char* groups,
                       const std::string& algorithm) {
    return time_us(
        scenario_of("name: engine\ncluster: {base: clusters/" + cluster +
                        "}\nworkload: {kind: collective, op: all_reduce, bytes: " + bytes + groups +
                        "}\ncollective: {algorithm: " + algorithm + "}\n",
                    {kEngine}));
  };
  const std::string h100 = "nodes_16x_8x_h100, nodes: 4";
  const char* parts = ", groups: {size: 4, stride: 4}";
  for (const std::string algorithm : {"engine", "engine_one_shot", "engine_two_shot"}) {
    EXPECT_EQ(time("nodes_16x_8x_a100_roce, nodes: 4", "1 MiB", "", algorithm),
              time("nodes_16x_8x_a100_roce, nodes: 4", "1 MiB", "", "library"));
    EXPECT_EQ(time(h100, "1 MiB", parts, algorithm), time(h100, "1 MiB", parts, "library"));
  }
  EXPECT_EQ(time("node_8x_mi300x", "64 KiB", "", "engine"),
            time("node_8x_mi300x", "64 KiB", "", "library"));
}

// A message's size has 32 bits: one WG's rounds are put together to less than that.
TEST(CollectiveOfEngine, loads_all_of_a_large_buffer) {
  Scenario scenario = all_reduce(2, "300 GiB", "engine_one_shot");
  scenario.collective.channels = 1;
  scenario.cluster.gpu.collective.engine->load = nanoseconds(1);
  const RunResult result = run(scenario);
  EXPECT_EQ(result.ending, Ending::finished);
  EXPECT_GE(result.ledger.message_bytes.done, 2 * (std::int64_t{300} << 30U));
  EXPECT_LT(result.ledger.message_bytes.done, 2 * (std::int64_t{301} << 30U));
}

TEST(CollectiveOfEngine, channels_are_the_wgs_of_its_kernel) {
  Scenario four = all_reduce(2, "64 KiB", "engine_one_shot");
  Scenario two = four;
  two.collective.channels = 2;
  // 64 rounds of 1 KiB: 16 turns of 4 WGs, or 32 of 2, each turn 2 us.
  EXPECT_NEAR(time_us(two) - time_us(four), 16 * 2, 1);
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
