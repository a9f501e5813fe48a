// GEMM as WGs: how many, for whom, and what each does. 4 MI210 of 104 CUs.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sim/workloads/gemm.h"
#include "tests/unit/engine/simulated.h"

namespace weft::gemm_grid_test {
namespace {

// 8 x 4 tiles of 128 x 128; two rows of tiles for each of 4 GPUs. A CU does 1 TFLOP/s, half of it
// reached.
Grid grid_of(std::vector<std::string> sets = {}, const KernelVersion& version = {}) {
  sets.insert(sets.end(), {"cluster.gpu.bf16_matrix=104 TFLOP/s", "cluster.gpu.l2.latency=100 ns"});
  const Scenario scenario = scenario_of(R"(
name: gemm
cluster: {base: clusters/node_4x_mi210}
workload:
  kind: gemm_all_to_all
  gemm: {m: 1024, n: 512, k: 1024, efficiency: 0.5}
modes: [fused]
fused: {slice_wgs: 1}
)",
                                        sets);
  return gemm_grid(scenario.workload.gemm, scenario.cluster.gpu,
                   build_cluster(scenario.cluster).gpus(), version);
}

std::vector<std::uint32_t> units(const Grid& grid) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < grid.per_peer; ++i) all.push_back(grid.unit_of(i));
  return all;
}
using Units = std::vector<std::uint32_t>;

TEST(GemmGrid, has_a_wg_for_each_tile) {
  const Grid grid = grid_of();
  EXPECT_EQ(grid.unit, 4U);  // a row of tiles
  EXPECT_EQ(grid.units(), 2U);
  EXPECT_EQ(grid.per_peer, 8U);
  EXPECT_EQ(grid.result_bytes, 128 * 128 * 2);
  EXPECT_EQ(grid.bytes_of(8), 256 * 512 * 2);  // the rows of one GPU
  EXPECT_EQ(grid.element_bytes, 2);
}

TEST(GemmGrid, split_k_has_several_wgs_for_each_tile) {
  const Grid grid = grid_of({"workload.gemm.split_k=4"});
  EXPECT_EQ(grid.unit, 16U);
  EXPECT_EQ(grid.per_peer, 32U);
  EXPECT_EQ(grid.parts, 4U);
  EXPECT_EQ(grid.bytes_of(32), 256 * 512 * 2);  // as many results as before
}

TEST(GemmGrid, input_of_a_row_of_tiles_is_its_rows_of_a) {
  EXPECT_EQ(grid_of().input_bytes, 128 * 1024 * 2);
}

TEST(GemmGrid, row_by_row_ends_a_row_of_tiles_before_the_next) {
  EXPECT_EQ(units(grid_of({"workload.gemm.order=row"})), (Units{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(GemmGrid, column_by_column_takes_the_rows_of_a_peer_in_turn) {
  EXPECT_EQ(units(grid_of({"workload.gemm.order=column"})), (Units{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(units(grid_of({"workload.gemm.swizzle=2"})), (Units{0, 1, 0, 1, 0, 1, 0, 1}));
}

TEST(GemmGrid, parts_of_a_tile_stay_together) {
  EXPECT_EQ(units(grid_of({"workload.gemm.order=column", "workload.gemm.split_k=2"})),
            (Units{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}));
}

TEST(GemmGrid, swizzled_has_a_smaller_last_group) {
  // 3 rows of tiles a peer, 2 columns, in groups of 2 rows.
  EXPECT_EQ(
      units(grid_of({"workload.gemm.m=1536", "workload.gemm.n=256", "workload.gemm.swizzle=2"})),
      (Units{0, 1, 0, 1, 2, 2}));
}

TEST(GemmGrid, a_wg_multiplies_its_part_of_k) {
  // 2 x 128 x 128 x 1024 = 33,554,432 operations at 0.5 TFLOP/s: 67.108864 us.
  const Grid grid = grid_of();
  EXPECT_EQ(grid.stored.flops, flops(33'554'432));
  EXPECT_EQ(grid.stored.arithmetic_alone, picoseconds(67'108'864));
  EXPECT_EQ(grid.stored.arithmetic_share, 1000U);
  const Grid split = grid_of({"workload.gemm.split_k=4"});
  EXPECT_EQ(split.stored.flops, flops(33'554'432 / 4));
  EXPECT_EQ(split.stored.arithmetic_alone, picoseconds(67'108'864 / 4));
}

TEST(GemmGrid, a_wg_with_a_cu_to_itself_reaches_part_of_its_rate) {
  // 0.8 of it, so 83.88608 us alone; two that share the CU take as long as at its full rate, each
  // with half: 1.25 times slower alone is 800 of 1000.
  const Grid grid = grid_of({"workload.gemm.alone=0.8"});
  EXPECT_EQ(grid.stored.arithmetic_share, 800U);
  EXPECT_EQ(grid.stored.arithmetic_alone, picoseconds(83'886'080));
}

TEST(GemmGrid, loads_last_as_long_as_the_arithmetic_or_their_own_latencies) {
  // (128 + 128) x 1024 x 2 B = 512 KiB by 256 threads with 8 loads of 16 B in flight, 32 KiB: 16
  // times 100 ns is less than the arithmetic's 67 us; 16 times 10 us is more.
  EXPECT_EQ(grid_of().stored.memory_alone, picoseconds(67'108'864));
  const Scenario scenario = scenario_of(R"(
name: gemm
cluster: {base: clusters/node_4x_mi210, gpu: {bf16_matrix: 104 TFLOP/s, l2: {latency: 10 us}}}
workload:
  kind: gemm_all_to_all
  gemm: {m: 1024, n: 512, k: 1024, efficiency: 0.5}
modes: [fused]
fused: {slice_wgs: 1}
)");
  const Grid slow = gemm_grid(scenario.workload.gemm, scenario.cluster.gpu,
                              build_cluster(scenario.cluster).gpus(), {});
  EXPECT_EQ(slow.stored.memory_alone, microseconds(160));
}

TEST(GemmGrid, loads_are_paced_by_the_arithmetic_of_all_residents) {
  // 32 x 8 = 256 tiles on 104 CUs are 3 a CU, of which 2 fit: each tile's 67 us of arithmetic take
  // 134 beside the other, and so do its loads.
  EXPECT_EQ(grid_of({"workload.gemm.m=4096", "workload.gemm.n=1024"}).stored.memory_alone,
            picoseconds(2 * 67'108'864));
}

TEST(GemmGrid, shares_the_traffic_among_its_wgs) {
  // All 32 tiles run at once: (1024 + 512) x 1024 x 2 B = 3 MiB once, 96 KiB a WG. Written here,
  // the tile too: 32 KiB.
  const Grid grid = grid_of();
  EXPECT_EQ(grid.stored.traffic, kibibytes(96));
  EXPECT_EQ(grid.written.traffic, kibibytes(96 + 32));
  EXPECT_EQ(grid.written.flops, grid.stored.flops);
}

// 8 rows of tiles, 2 a GPU, and 52 columns are 416 tiles on 104 CUs, one a CU: 104 are what one
// GPU's rows have, so that one after another each reads all of B, (256 + 6,656) rows of 2 KiB. In
// turn they are 13 columns of all 8 rows, 1,024 + 1,664 rows: 13.5 MiB and 5.25 a round. Staggered,
// the rows of three GPUs are in turn: 104 of 6 x 52 tiles are 17.33 columns, 768 + 18 x 128 rows.
std::int64_t rows_of_a_round(const KernelVersion& with, const std::string& n = "6656") {
  KernelVersion version = with;
  version.most_on_cu = 1;
  const Grid grid = grid_of({"workload.gemm.n=" + n, "workload.gemm.order=column"}, version);
  return std::lround(static_cast<double>(grid.stored.traffic.count()) * 104 / 2048);
}

TEST(GemmGrid, gpus_in_turn_read_the_columns_of_b_once) {
  EXPECT_EQ(rows_of_a_round({}), 256 + 6'656);
  EXPECT_EQ(rows_of_a_round({.in_turn = 4}), 1'024 + 1'664);
  EXPECT_EQ(rows_of_a_round({.in_turn = 3}), 768 + 18 * 128);
}

// Four slices of 26 WGs are 104, all at once; of 27 they are more: the next GPU's comes later.
TEST(GemmGrid, slices_in_turn_that_do_not_fit_together_share_nothing) {
  EXPECT_EQ(rows_of_a_round({.in_turn = 4, .slice_wgs = 26}), 1'024 + 1'664);
  EXPECT_EQ(rows_of_a_round({.in_turn = 4, .slice_wgs = 27}), 256 + 6'656);
}

// A GPU has 104 tiles. Half of them first: the others' read half of B's 6,656 rows again, in four
// rounds. With all of them first, all of B.
TEST(GemmGrid, columns_of_own_tiles_that_come_first_are_read_again) {
  EXPECT_EQ(rows_of_a_round({.in_turn = 4, .own_first = 52}), 1'024 + 1'664 + 6'656 / 2 / 4);
  EXPECT_EQ(rows_of_a_round({.in_turn = 4, .own_first = 104}), 1'024 + 1'664 + 6'656 / 4);
  EXPECT_EQ(rows_of_a_round({.in_turn = 4, .own_first = 200}), 1'024 + 1'664 + 6'656 / 4);
}

// 13 columns: 104 tiles, all at once. In step B is read once; the own 26 tiles and the other 78,
// when their rows have come, read it once each.
TEST(GemmGrid, own_rows_and_those_that_come_later_read_b_apart) {
  EXPECT_EQ(rows_of_a_round({}, "1664"), 1'024 + 1'664);
  EXPECT_EQ(rows_of_a_round({.own_apart = true}, "1664"), 1'024 + 2 * 1'664);
}

// 26 columns: 52 own tiles leave 52 CUs to the others, which have the next 52 tiles when those have
// come, and 52 when the own ones have ended, and so on: four times B in two rounds, for twice.
TEST(GemmGrid, tiles_that_begin_beside_own_ones_and_after_them_read_b_apart) {
  EXPECT_EQ(rows_of_a_round({}, "3328"), 512 + 3'328);
  EXPECT_EQ(rows_of_a_round({.own_apart = true}, "3328"), 2 * (256 + 3'328));
}

// 104 own tiles, or 112: no CU is left, and there is nothing to be apart from. One column less, and
// 8 CUs are: each second time that they have tiles these share what the 96 read.
TEST(GemmGrid, own_tiles_on_all_cus_are_before_the_others) {
  EXPECT_EQ(rows_of_a_round({.own_apart = true}), rows_of_a_round({}));
  EXPECT_EQ(rows_of_a_round({.own_apart = true}, "7168"), rows_of_a_round({}, "7168"));
  EXPECT_LT(rows_of_a_round({.own_apart = true}, "6144"),
            1.1 * static_cast<double>(rows_of_a_round({}, "6144")));
}

TEST(GemmGrid, parts_are_added_up_by_atomics_on_float32) {
  // 3 MiB among 128 WGs, 24 KiB; each reads and writes 128 x 128 x 4 B.
  EXPECT_EQ(grid_of({"workload.gemm.split_k=4"}).written.traffic, kibibytes(24 + 128));
}

}  // namespace
}  // namespace weft::gemm_grid_test
