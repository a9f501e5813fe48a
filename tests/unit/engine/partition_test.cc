// How many CUs the collective of a c3 scenario gets, where the scenario does not say.
#include "sim/engine/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::partition_test {
namespace {

// 16 CUs of one WG. The GEMM: 160 tiles of 10 us, 10 rounds on all CUs. The all-to-all: 4 MB to the
// peer by channels of 10 GB/s, so 400 us on one CU, 400 / p on p of them, up to 8.
//
//   CUs of the collective    1    2    3    4    5    6    7    8
//   it takes, us           400  200  133  100   80   67   57   50
//   the GEMM on the others 110  120  130  140  150  160  180  200
Scenario toy(const std::vector<std::string>& sets = {}) {
  return scenario_of(R"(
name: GEMM concurrent with an all-to-all
cluster:
  name: two GPUs
  nodes: 1
  gpus_per_node: 2
  gpu:
    base: gpus/ideal
    cus: 16
    cu: {wgs: 1}
    bf16_matrix: 16 TFLOP/s
    launch: {mask_step: 1}
    collective: {channels: 8, exchange_rate: 10 GB/s, chunk: 10 kB}
  scale_up: {shape: fully_connected, link: {bandwidth: 100 GB/s, latency: 0 ns}}
workload:
  kind: c3
  gemm: {m: 1600, n: 1000, k: 500, tile_m: 100, tile_n: 100, efficiency: 1}
  communication: {op: all_to_all, bytes: 8 MB}
)",
                     sets);
}

Duration time_with(const Scenario& scenario, int cus) {
  return run(scenario, Mode::partition, cus).time;
}

TEST(Partition, best_finds_what_trying_every_size_finds) {
  const Scenario scenario = toy();
  int best = 0;
  Duration least;
  for (int cus = 1; cus <= 8; ++cus) {
    const Duration time = time_with(scenario, cus);
    if (best == 0 || time < least) {
      best = cus;
      least = time;
    }
  }
  EXPECT_EQ(best, 3);
  const Partition found = choose_partition(scenario, build_cluster(scenario.cluster), Mode::best);
  EXPECT_EQ(found.cus, best);
  EXPECT_EQ(run(scenario, Mode::best, found.cus).time, least);
}

TEST(Partition, best_tries_no_size_twice_and_only_whole_steps_of_the_mask) {
  const Scenario scenario = toy({"cluster.gpu.launch.mask_step=2"});
  const Partition found = choose_partition(scenario, build_cluster(scenario.cluster), Mode::best);
  std::vector<int> sizes;
  for (const PartitionTried& tried : found.tried) {
    EXPECT_EQ(tried.cus % 2, 0);
    EXPECT_EQ(std::count(sizes.begin(), sizes.end(), tried.cus), 0) << tried.cus;
    EXPECT_GT(tried.together.count(), 0);
    sizes.push_back(tried.cus);
  }
  EXPECT_EQ(found.cus, 4);
}

TEST(Partition, lookup_takes_the_power_of_two_whose_longer_half_is_shortest) {
  const Scenario scenario = toy();
  const Partition found = choose_partition(scenario, build_cluster(scenario.cluster), Mode::lookup);
  EXPECT_EQ(found.cus, 4);
  ASSERT_EQ(found.tried.size(), 4U);
  const std::vector<double> gemm{110, 120, 140, 200};
  const std::vector<double> collective{400, 200, 100, 50};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(found.tried[i].cus, 1 << i);
    EXPECT_NEAR(to_microseconds(found.tried[i].compute), gemm[i], 0.1);
    EXPECT_NEAR(to_microseconds(found.tried[i].communicate), collective[i], 2);
    EXPECT_EQ(found.tried[i].together.count(), 0);
  }
}

TEST(Partition, what_the_scenario_gives_is_taken_and_others_have_none) {
  const Scenario scenario = toy({"c3.partition_cus=5"});
  const Cluster cluster = build_cluster(scenario.cluster);
  EXPECT_EQ(choose_partition(scenario, cluster, Mode::partition).cus, 5);
  EXPECT_EQ(choose_partition(scenario, cluster, Mode::priority_partition).cus, 5);
  EXPECT_EQ(choose_partition(scenario, cluster, Mode::lookup).cus, 4);
  EXPECT_EQ(choose_partition(scenario, cluster, Mode::base).cus, 0);
  EXPECT_EQ(choose_partition(scenario, cluster, Mode::dma_partition).cus, 0);
  EXPECT_TRUE(choose_partition(scenario, cluster, Mode::partition).tried.empty());
}

TEST(Partition, without_a_given_size_a_partition_is_what_lookup_finds) {
  const Scenario scenario = toy();
  const Cluster cluster = build_cluster(scenario.cluster);
  for (const Mode mode : {Mode::partition, Mode::priority_partition}) {
    EXPECT_EQ(choose_partition(scenario, cluster, mode).cus, 4);
  }
}

}  // namespace
}  // namespace weft::partition_test
