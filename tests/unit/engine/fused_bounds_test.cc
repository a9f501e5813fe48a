// Fused is never faster than its work or its communication alone, and never slower than both one
// after the other: four MI210, no jitter, no register cost, no L2.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/engine/simulated.h"

namespace weft::fused_bounds_test {
namespace {

Scenario four_mi210(std::vector<std::string> sets = {}) {
  sets.emplace_back("cluster.gpu.l2.capacity=0 B");
  return scenario_of(R"(
name: fused bounds
cluster: {base: clusters/node_4x_mi210}
workload:
  kind: embedding_all_to_all
  batch: 1024
  tables_per_gpu: 32
  rows_per_table: 1000
  dim: 92
  pooling: 70
  rows_per_wg: 16
fused: {extra_registers_per_thread: 0}
)",
                     sets);
}

// 256 samples a GPU / 16 x 32 tables = 512 WGs a destination, 2048 a GPU. A WG reads
// 16 x 70 x (368 + 8) B and makes 16 x 368 B.
constexpr std::int64_t kRead = 16 * 70 * (368 + 8);
constexpr std::int64_t kMade = 16 * 368;

TEST(FusedTime, lies_between_the_longer_part_and_the_sum_of_both) {
  const Scenario scenario = four_mi210();
  const RunResult bulk = run(scenario, Mode::bulk);
  const RunResult fused = run(scenario, Mode::fused);
  // HBM: all reads, own results written here, those of others arriving: 2048 x 427,008 B at
  // 1392 GB/s = 628 us. Link: 512 results of 5,888 B at 50 GB/s = 60 us.
  const Duration memory = transfer_time(bytes(2048 * (kRead + kMade)), gigabytes_per_second(1392));
  const Duration link = transfer_time(bytes(512 * kMade), gigabytes_per_second(50));
  // and a flag of 8 B for each of the 3 x 512 results that arrive
  EXPECT_EQ(fused.gpus[0].hbm, bytes(2048 * (kRead + kMade) + 3 * 512 * 8));
  EXPECT_GT(fused.time, longer(memory, link));
  Duration parts;
  for (const OperatorUse& use : bulk.operators) parts += use.longest;
  EXPECT_LT(fused.time, parts + nanoseconds(1700));  // and one launch
  EXPECT_GT(bulk.time, parts);
}

TEST(FusedTime, on_slow_links_is_the_links) {
  // 1 GB/s: 512 x 5,888 B on each link take 3.01 ms, the pooling 0.63 ms. Peers in turn, so that
  // all links are loaded alike. Before that the first 104 x 8 WGs read, all at once, 832 x 427,008
  // B at 1392 GB/s = 0.26 ms. 2 % for the bend, launch and last flag.
  const Scenario scenario =
      four_mi210({"cluster.scale_up.link.bandwidth=1 GB/s", "fused.order=staggered"});
  const Duration link = transfer_time(bytes(512 * kMade), gigabytes_per_second(1));
  const RunResult fused = run(scenario, Mode::fused);
  EXPECT_GT(fused.time, link);
  const Duration first =
      transfer_time(bytes(104 * 8 * (kRead + kMade)), gigabytes_per_second(1392));
  EXPECT_LT(fused.time.count(), (link + first).count() / 100 * 102);
}

TEST(FusedTime, at_low_occupancy_follows_littles_law) {
  // One WG a CU: x = 104 WGs' demand over the bandwidth. A step is a latency:
  //   rows at once 256 / 23 = 11 -> 2 rounds; 70 / 4 -> 18 steps and 5 lines of indices:
  //   2 x 23 x 700 ns = 32.2 us a WG. 2048 WGs on 104 places = 20 turns (the last of 72): at least
  //   20 x 32.2 us = 644 us.
  const Scenario scenario = four_mi210({"fused.max_wgs_per_cu=1"});
  const RunResult fused = run(scenario, Mode::fused);
  EXPECT_GT(fused.time, nanoseconds(20 * 32'200));
}

}  // namespace
}  // namespace weft::fused_bounds_test
