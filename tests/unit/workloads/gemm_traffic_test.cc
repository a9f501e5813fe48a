// What a GEMM reads from HBM, by the order of its tiles and the caches that they are dealt to.
//
// 4 x 4 tiles of 2 x 2, k = 5, 2 B an element: a line (a row of A, a column of B) is 10 B. Reading
// both operands once is 16 lines, 160 B.
#include <gtest/gtest.h>

#include "sim/workloads/gemm.h"

namespace weft::gemm_traffic_test {
namespace {

struct Caches {
  int dies = 1;
  Bytes side_cache{};
};

GpuSpec gpu_with(const Caches& caches) {
  GpuSpec gpu;
  gpu.l2.dies = caches.dies;
  gpu.memory.side_cache = caches.side_cache;
  return gpu;
}

GemmWork small(TileOrder order) {
  GemmWork gemm;
  gemm.m = 8;
  gemm.n = 8;
  gemm.k = 5;
  gemm.tile_m = 2;
  gemm.tile_n = 2;
  gemm.order = order;
  gemm.swizzle = 2;
  return gemm;
}

std::int64_t alone(const GemmWork& gemm, std::int64_t wgs_at_once, const Caches& caches = {}) {
  return operand_traffic(tiled(gemm), gpu_with(caches),
                         {.cus = wgs_at_once, .wgs_on_cu = 1, .peers = 1});
}

TEST(GemmTraffic, of_a_row_of_tiles_is_its_rows_and_all_columns) {
  // 4 tiles at once: 2 rows and 8 columns, 10 lines of 10 B; 4 times.
  EXPECT_EQ(alone(small(TileOrder::row), 4), 400);
}

TEST(GemmTraffic, of_a_column_of_tiles_is_all_rows_and_its_columns) {
  EXPECT_EQ(alone(small(TileOrder::column), 4), 400);
}

TEST(GemmTraffic, is_least_where_tiles_that_run_together_form_a_square) {
  // Groups of 2 rows, column by column: 2 x 2 tiles are 4 rows and 4 columns, 8 lines; 4 times.
  EXPECT_EQ(alone(small(TileOrder::swizzled), 4), 320);
}

TEST(GemmTraffic, counts_a_wave_that_ends_within_a_row) {
  // 6 at once: 4 rows and 8 columns, 12 lines for 6 of 16 tiles: 120 x 16 / 6.
  EXPECT_EQ(alone(small(TileOrder::row), 6), 320);
}

TEST(GemmTraffic, of_a_last_smaller_group_is_that_of_its_rows) {
  // Groups of 3 rows and 1: 13 at once are 3 rows of tiles and one tile more: 8 rows, 8 columns,
  // 16 lines for 13 of 16 tiles: 160 x 16 / 13 = 196.9.
  GemmWork gemm = small(TileOrder::swizzled);
  gemm.swizzle = 3;
  EXPECT_EQ(alone(gemm, 13), 197);
  // 10 at once: 3 rows x 3 columns and one more of the 4th: 6 rows, 8 columns, 140 x 16 / 10.
  EXPECT_EQ(alone(gemm, 10), 224);
}

TEST(GemmTraffic, is_both_operands_once_where_all_runs_together) {
  for (const TileOrder order : {TileOrder::row, TileOrder::column, TileOrder::swizzled}) {
    EXPECT_EQ(alone(small(order), 16), 160);
    EXPECT_EQ(alone(small(order), 1000), 160);
  }
}

TEST(GemmTraffic, one_tile_at_a_time_reads_its_panels_each_time) {
  EXPECT_EQ(alone(small(TileOrder::row), 1), 16 * 4 * 10);
}

TEST(GemmTraffic, of_tiles_dealt_to_dies_is_read_by_each_of_them) {
  // Tiles 0 and 2 on one die, 1 and 3 on the other: each reads 2 rows and 4 columns, 12 lines.
  EXPECT_EQ(alone(small(TileOrder::row), 4, {.dies = 2}), 480);
  // In a column each die reads 4 of the rows, and the columns too: 12 lines.
  EXPECT_EQ(alone(small(TileOrder::column), 4, {.dies = 2}), 480);
  // 4 dies, a tile each: 4 x (2 + 2).
  EXPECT_EQ(alone(small(TileOrder::row), 4, {.dies = 4}), 640);
}

TEST(GemmTraffic, behind_a_side_cache_is_read_once_for_all_dies) {
  EXPECT_EQ(alone(small(TileOrder::row), 4, {.dies = 4, .side_cache = mebibytes(1)}), 400);
}

TEST(GemmTraffic, of_split_k_is_that_of_the_tiles_at_work) {
  // 8 WGs are 4 tiles, each of its two parts for half of k: the same lines.
  GemmWork gemm = small(TileOrder::row);
  gemm.split_k = 2;
  EXPECT_EQ(alone(gemm, 8), 400);
}

TEST(GemmTraffic, of_parts_that_always_meet_the_same_die_is_read_there_alone) {
  // 2 parts dealt to 2 dies: the first halves of k to one, the second to the other. To 4 dies: each
  // part to two of them, in turn.
  GemmWork gemm = small(TileOrder::row);
  gemm.split_k = 2;
  EXPECT_EQ(alone(gemm, 8, {.dies = 2}), 400);
  EXPECT_EQ(alone(gemm, 8, {.dies = 4}), 480);
  // 5 parts and 2 dies have no factor in common: tile by tile the dies change.
  gemm.split_k = 5;
  EXPECT_EQ(alone(gemm, 20, {.dies = 2}), 480);
}

TEST(GemmTraffic, orders_tiles_within_the_rows_of_each_peer) {
  // 2 peers of 2 rows of tiles each. Column by column 4 at once are 2 x 2 tiles of the first peer.
  EXPECT_EQ(operand_traffic(tiled(small(TileOrder::column)), gpu_with({}),
                            {.cus = 4, .wgs_on_cu = 1, .peers = 2}),
            320);
  // Of 4 peers each has one row of tiles: every order is row by row.
  for (const TileOrder order : {TileOrder::row, TileOrder::column, TileOrder::swizzled}) {
    EXPECT_EQ(
        operand_traffic(tiled(small(order)), gpu_with({}), {.cus = 4, .wgs_on_cu = 1, .peers = 4}),
        400);
  }
}

}  // namespace
}  // namespace weft::gemm_traffic_test
