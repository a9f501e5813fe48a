// GEMV as WGs. 4 MI210: waves of 64, 700 ns to HBM.
#include <gtest/gtest.h>

#include "sim/workloads/gemv.h"
#include "tests/unit/engine/simulated.h"

namespace weft::gemv_grid_test {
namespace {

// 128 WGs a peer; a row is 2 KiB, so a wave with a load of 16 B a lane in flight takes 2 steps.
Grid grid_of(const std::vector<std::string>& sets = {}) {
  const Scenario scenario = scenario_of(R"(
name: gemv
cluster: {base: clusters/node_4x_mi210, gpu: {base: gpus/mi210, wave_sum: 0 ns}}
workload:
  kind: gemv_all_reduce
  gemv: {m: 8192, k: 1024, rows_per_wg: 16}
modes: [fused]
fused: {slice_wgs: 1}
)",
                                        sets);
  return gemv_grid(scenario.workload.gemv, scenario.cluster.gpu,
                   build_cluster(scenario.cluster).gpus(), {});
}

TEST(GemvGrid, has_a_wg_for_so_many_rows) {
  const Grid grid = grid_of();
  EXPECT_EQ(grid.per_peer, 8192U / 16 / 4);
  EXPECT_EQ(grid.units(), 128U);
  EXPECT_EQ(grid.result_bytes, 16 * 4);  // y is float32
  EXPECT_EQ(grid.bytes_of(128), 8192);
}

TEST(GemvGrid, a_wg_reads_its_rows_and_writes_their_sums) {
  EXPECT_EQ(grid_of().stored.traffic, bytes(16 * 2048));
  EXPECT_EQ(grid_of().written.traffic, bytes(16 * 2048 + 16 * 4));
  EXPECT_EQ(grid_of({"workload.gemv.dtype=fp32"}).stored.traffic, bytes(16 * 4096));
}

TEST(GemvGrid, multiplies_and_adds_each_element) {
  EXPECT_EQ(grid_of().stored.flops, flops(2 * 16 * 1024));
}

TEST(GemvGrid, each_wave_takes_its_rows_one_after_another) {
  // 4 waves, 16 rows: 4 rounds of 2 steps of 700 ns.
  EXPECT_EQ(grid_of().stored.memory_alone, nanoseconds(4 * 2 * 700));
  // 2 loads in flight: one step a row. 17 rows would be 5 rounds; 8 rows are 2.
  EXPECT_EQ(grid_of({"workload.gemv.wg.loads_in_flight=2"}).stored.memory_alone,
            nanoseconds(4 * 700));
  EXPECT_EQ(grid_of({"workload.gemv.rows_per_wg=8"}).stored.memory_alone, nanoseconds(2 * 2 * 700));
}

TEST(GemvGrid, adds_up_the_lanes_at_the_end_of_each_row) {
  // 4 rounds of 2 steps of 700 ns and 165 ns.
  EXPECT_EQ(grid_of({"cluster.gpu.wave_sum=165 ns"}).stored.memory_alone,
            nanoseconds(4 * (2 * 700 + 165)));
}

TEST(GemvGrid, adds_up_a_load_before_the_next) {
  // 4 rounds of 2 steps of 700 + 30 ns; with 2 loads in flight one step of 700 + 2 x 30 ns.
  EXPECT_EQ(grid_of({"workload.gemv.load_sums=30 ns"}).stored.memory_alone,
            nanoseconds(4 * 2 * (700 + 30)));
  EXPECT_EQ(grid_of({"workload.gemv.load_sums=30 ns", "workload.gemv.wg.loads_in_flight=2"})
                .stored.memory_alone,
            nanoseconds(4 * (700 + 2 * 30)));
}

TEST(GemvGrid, of_weights_in_l2_reads_no_hbm) {
  const Grid grid = grid_of({"workload.gemv.weights=in_l2", "cluster.gpu.l2.latency=300 ns",
                             "cluster.gpu.l2.capacity=32 MiB"});
  EXPECT_EQ(grid.stored.traffic, bytes(0));
  EXPECT_EQ(grid.written.traffic, bytes(64));
  EXPECT_EQ(grid.stored.memory_alone, nanoseconds(4 * 2 * 300));
}

TEST(GemvGrid, that_memory_always_bounds_has_no_arithmetic) {
  EXPECT_EQ(grid_of().stored.arithmetic_alone, Duration{});
  // 104 CUs of 10 GFLOP/s: 32,768 operations are 3.2768 us; 8 such WGs on a CU are longer than
  // 5.6 us.
  EXPECT_EQ(grid_of({"cluster.gpu.fp32_vector=1040 GFLOP/s"}).stored.arithmetic_alone,
            picoseconds(3'276'800));
}

}  // namespace
}  // namespace weft::gemv_grid_test
