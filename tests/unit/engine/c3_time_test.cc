// What the strategies of a GEMM concurrent with a collective take, where both can be counted by
// hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/engine/partition.h"
#include "sim/scenario/modes.h"
#include "tests/unit/engine/simulated.h"

namespace weft::c3_time_test {
namespace {

// Two GPUs of 8 CUs that hold one WG each. The GEMM: 16 tiles of 100 us, so 2 rounds on all CUs,
// 200 us. The all-to-all: 8 MB to the peer by 4 channels of 10 GB/s, or by one copy engine of
// 40 GB/s, 200 us each; its last piece adds some microseconds. Nothing else takes time.
Scenario toy(std::vector<std::string> sets = {}) {
  return scenario_of(R"(
name: GEMM concurrent with an all-to-all
cluster:
  name: two GPUs
  nodes: 1
  gpus_per_node: 2
  gpu:
    base: gpus/ideal
    cus: 8
    cu: {wgs: 1}
    bf16_matrix: 8 TFLOP/s
    dma: {rate: 40 GB/s}
    launch: {mask_step: 1}
    collective: {channels: 4, exchange_rate: 10 GB/s, chunk: 50 kB}
  scale_up: {shape: fully_connected, link: {bandwidth: 50 GB/s, latency: 0 ns}}
workload:
  kind: c3
  gemm: {m: 400, n: 400, k: 5000, tile_m: 100, tile_n: 100, efficiency: 1}
  communication: {op: all_to_all, bytes: 16 MB}
)",
                     sets);
}

double time_us(const Scenario& scenario, Mode mode) {
  const Cluster cluster = build_cluster(scenario.cluster);
  const Partition partition = choose_partition(scenario, cluster, mode);
  return to_microseconds(run(scenario, mode, partition.cus).time);
}

constexpr double kPiece = 7;  // a piece of 50 kB on a channel and on its link

TEST(C3Time, one_after_the_other_is_the_sum) {
  EXPECT_NEAR(time_us(toy(), Mode::compute_alone), 200, 0.1);
  EXPECT_NEAR(time_us(toy(), Mode::comm_alone), 200, kPiece);
  EXPECT_NEAR(time_us(toy(), Mode::comm_alone_dma), 200, kPiece);
  EXPECT_NEAR(time_us(toy(), Mode::serial), 400, kPiece);
}

// Two channels of 10 GB/s take 400 us. The GEMM, on the 6 other CUs, does 6, 6 and 4 tiles of 100
// us: three quarters of what the GPU can compute for 200 us, then half of it, which leaves the
// clock (0.8 x 0.75^(-1/3) = 0.8805, then 0.8 x 0.5^(-1/3) > 1). So 200 us bring the collective
// 176.1 us further, and it ends after 200 + 400 - 176.1 us.
TEST(C3Time, channels_beside_a_gemm_have_the_clock_that_it_leaves) {
  const std::vector<std::string> few = {"collective.channels=2"};
  std::vector<std::string> slow = few;
  slow.emplace_back(
      "cluster.gpu.power={idle: 0, matrix: 1, memory: 0, exponent: 3, gemm_clock: 0.8}");
  EXPECT_NEAR(time_us(toy(few), Mode::comm_first), 400, kPiece);
  EXPECT_NEAR(time_us(toy(slow), Mode::comm_alone), 400, kPiece);
  EXPECT_NEAR(time_us(toy(slow), Mode::comm_first), 423.9, kPiece);
}

// The GEMM's second 8 WGs wait longest, and get the CUs that the first 8 leave.
TEST(C3Time, where_kernels_are_served_in_order_the_collective_waits_for_the_gemms_last_wgs) {
  EXPECT_NEAR(time_us(toy(), Mode::base), 400, kPiece);
}

// 4 of those 8 CUs are the collective's from 100 to 300 us; the GEMM has the other 4.
TEST(C3Time, where_kernels_take_turns_the_collective_waits_for_the_first_wgs) {
  const Scenario scenario = toy({"cluster.gpu.launch.arbitration=round_robin"});
  EXPECT_NEAR(time_us(scenario, Mode::base), 300, kPiece);
}

// 4 CUs for 200 us, then 8: 4 + 4 + 8 tiles.
TEST(C3Time, a_collective_launched_first_has_its_places_and_the_gemm_the_others) {
  for (const Mode mode : {Mode::comm_first, Mode::priority, Mode::launch_order}) {
    EXPECT_NEAR(time_us(toy(), mode), 300, kPiece) << name_of(mode);
  }
}

// The GEMM's first 8 tiles have all CUs until 101 us; of what they leave the collective, launched a
// gap later, gets the first 4 for 200 us, and the other 8 tiles the others. WGs that take tiles one
// by one leave nothing before the last one is done.
TEST(C3Time, priority_gets_the_first_places_that_wgs_leave) {
  std::vector<std::string> sets{"cluster.gpu.launch.queue=1 us", "run.launch=queue"};
  EXPECT_NEAR(time_us(toy(sets), Mode::priority), 301, kPiece);
  EXPECT_NEAR(time_us(toy(sets), Mode::base), 401, kPiece);
  sets.emplace_back("workload.gemm.schedule=dynamic");
  EXPECT_NEAR(time_us(toy(sets), Mode::priority), 401, kPiece);
  EXPECT_NEAR(time_us(toy(sets), Mode::comm_first), 301, kPiece);
}

// A GEMM of 2 tiles has fewer WGs than the collective has channels, so it goes first.
TEST(C3Time, launch_order_starts_the_kernel_of_fewer_wgs) {
  const std::vector<std::string> small{"workload.gemm.m=200", "workload.gemm.n=100",
                                       "cluster.gpu.cus=4", "cluster.gpu.bf16_matrix=4 TFLOP/s"};
  const Scenario scenario = toy(small);
  EXPECT_NEAR(time_us(scenario, Mode::comm_first), 300, kPiece);  // the GEMM waits for all 4 CUs
  const double in_order = time_us(scenario, Mode::launch_order);
  EXPECT_NEAR(in_order, time_us(scenario, Mode::base), 0.001);
  EXPECT_NEAR(in_order, 250, kPiece);  // 2 channels for 100 us, then 4
}

// Masks hold to the end: 4 rounds on 4 CUs; or 3 on 6 beside 2 channels that take 400 us.
TEST(C3Time, a_mask_keeps_each_on_its_own_cus) {
  for (const Mode mode : {Mode::partition, Mode::priority_partition}) {
    EXPECT_NEAR(time_us(toy({"c3.partition_cus=4"}), mode), 400, kPiece) << name_of(mode);
    EXPECT_NEAR(time_us(toy({"c3.partition_cus=2"}), mode), 400, kPiece) << name_of(mode);
    EXPECT_NEAR(time_us(toy({"c3.partition_cus=6"}), mode), 800, 0.1) << name_of(mode);
  }
}

// 2 channels take 2 CUs for 400 us; the GEMM has 6 meanwhile: 6 + 6 + 4.
TEST(C3Time, a_collective_held_to_few_channels_leaves_the_gemm_the_other_cus) {
  const Scenario scenario = toy({"c3.partition_by=channels", "c3.partition_cus=2"});
  EXPECT_NEAR(time_us(scenario, Mode::partition), 400, kPiece);
  const Scenario longer =
      toy({"c3.partition_by=channels", "c3.partition_cus=2", "workload.gemm.m=800"});
  EXPECT_NEAR(time_us(longer, Mode::partition), 500, kPiece);  // 32 tiles: 4 x 6, then 8
}

TEST(C3Time, copy_engines_leave_the_gemm_all_cus) {
  EXPECT_NEAR(time_us(toy(), Mode::dma), 200, kPiece);
  // 3 rounds on 6 CUs.
  EXPECT_NEAR(time_us(toy({"c3.dma_reserve_cus=2"}), Mode::dma_partition), 300, 0.1);
}

// The collective holds 2 CUs for 400 us. Tiles that belong to WGs: 6 WGs make theirs in 200 us, and
// on the CUs they leave the other two make theirs. Tiles in parts: those 6 wait for the other two.
TEST(C3Time, wgs_that_share_tiles_hold_their_places_until_all_are_done) {
  const std::vector<std::string> sets{"c3.partition_by=channels", "c3.partition_cus=2"};
  std::vector<std::string> lists = sets;
  lists.emplace_back("workload.gemm.schedule=persistent");
  EXPECT_NEAR(time_us(toy(lists), Mode::partition), 400, kPiece);
  std::vector<std::string> parts = sets;
  parts.emplace_back("workload.gemm.schedule=stream_k");
  EXPECT_NEAR(time_us(toy(parts), Mode::partition), 400 + 200, kPiece);
  EXPECT_NEAR(time_us(toy(parts), Mode::base), 400, kPiece);
}

// 20 tiles on 8 CUs: 3 rounds, or 2.5 tiles each.
TEST(C3Time, shared_tiles_leave_no_cu_idle) {
  EXPECT_NEAR(time_us(toy({"workload.gemm.m=500"}), Mode::compute_alone), 300, 0.1);
  const Scenario shared = toy({"workload.gemm.m=500", "workload.gemm.schedule=stream_k"});
  EXPECT_NEAR(time_us(shared, Mode::compute_alone), 250, 0.1);
}

TEST(C3Time, jitter_of_the_gemm_counts) {
  const Scenario even = toy();
  const Scenario uneven = toy({"workload.gemm.jitter=0.2"});
  const double time = time_us(uneven, Mode::compute_alone);
  EXPECT_GT(time, time_us(even, Mode::compute_alone) + 5);
  EXPECT_LT(time, 240.1);
}

}  // namespace
}  // namespace weft::c3_time_test
