// What a GEMM's WGs do: 10 CUs of 1 TFLOP/s each, half of it reached.
#include "sim/gpu_model/gemm_law.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::gemm_law_test {
namespace {

GpuSpec gpu() {
  GpuSpec spec;
  spec.cus = 10;
  spec.wave_size = 64;
  spec.cu = {.waves = 32, .registers = 131'072, .lds = kibibytes(64), .wgs = 32};
  spec.bf16_matrix = gigaflops(10'000);
  spec.l2 = {.capacity = mebibytes(4),
             .dies = 1,
             .copies = 1,
             .latency = nanoseconds(500),
             .bandwidth = {}};
  spec.memory.bandwidth = gigabytes_per_second(1000);
  spec.memory.bend = 2;
  return spec;
}

// 10 x 4 tiles of 100 x 100, k = 1000, 2 B an element: 2 x 10^7 operations a tile, 40 us at 0.5
// TFLOP/s. One WG of 32 KiB in flight fits on a CU.
TiledGemm gemm() {
  TiledGemm one;
  one.m = 1000;
  one.n = 400;
  one.k = 1000;
  one.tile_m = 100;
  one.tile_n = 100;
  one.efficiency = 0.5;
  one.wg = {.threads = 256, .registers_per_thread = 512, .lds = bytes(0), .loads_in_flight = 8};
  return one;
}
constexpr GemmRun kRun{.cus = 10, .wgs_on_cu = 1, .peers = 1};

TEST(GemmLaw, tiles_come_column_by_column_in_groups_of_rows) {
  TiledGemm of_groups = gemm();
  of_groups.group = 3;
  const Tiles tiles(of_groups, 2);  // 5 rows a peer: groups of 3 and 2
  EXPECT_EQ(tiles.count(), 40);
  EXPECT_EQ(tiles.place_of(4).row, 1);
  EXPECT_EQ(tiles.place_of(4).column, 1);
  EXPECT_EQ(tiles.place_of(15).row, 4);  // behind 3 x 4 tiles: rows 3 and 4 in turn
  EXPECT_EQ(tiles.place_of(15).column, 1);
  EXPECT_EQ(tiles.place_of(20).row, 5);  // the second peer's first
  EXPECT_EQ(tiles.place_of(20).column, 0);
}

TEST(GemmLaw, a_tile_takes_its_operations_at_the_rate_that_is_reached) {
  const TileWork work = tile_work(gemm(), gpu(), kRun);
  EXPECT_EQ(work.flops, flops(20'000'000));
  EXPECT_EQ(work.arithmetic_share, 1000U);
  EXPECT_EQ(work.arithmetic_alone, microseconds(40));
  // 200 x 1000 x 2 B in 32 KiB: 13 waits of 500 ns are shorter.
  EXPECT_EQ(work.memory_alone, microseconds(40));
  GpuSpec slow = gpu();
  slow.l2.latency = microseconds(10);
  EXPECT_EQ(tile_work(gemm(), slow, kRun).memory_alone, microseconds(130));
}

// 4 tiles on 10 CUs gain (10/4)^(1/5) at the clock that they leave; in a second round after 10
// others the mean of both is what a tile takes. With two WGs on a CU 14 tiles are on all CUs.
TEST(GemmLaw, tiles_are_made_faster_where_some_cus_have_none) {
  GpuSpec faster = gpu();
  faster.library_gemm.emplace().efficiency = 0.5;
  faster.power.emplace().short_clock = 0.5;
  const auto us = [&](std::int64_t columns, std::int64_t on_cu) {
    TiledGemm few = gemm();
    few.m = 200;
    few.n = 100 * columns;
    const GemmRun run{.cus = 10, .wgs_on_cu = on_cu, .peers = 1};
    return to_microseconds(tile_work(few, faster, run).arithmetic_alone);
  };
  const double gain = std::pow(2.5, 0.2);
  EXPECT_NEAR(us(2, 1), 40 / gain, 1e-4);
  EXPECT_NEAR(us(5, 1), 40, 1e-4);
  EXPECT_NEAR(us(7, 1), (40 + 40 / gain) / 2, 1e-4);
  EXPECT_NEAR(us(7, 2), 40, 1e-4);
}

TEST(GemmLaw, residents_make_the_arithmetic_of_one_another_longer) {
  // Two of 40 WGs on each of 10 CUs.
  const GemmRun two{.cus = 10, .wgs_on_cu = 2, .peers = 1};
  EXPECT_EQ(tile_work(gemm(), gpu(), two).memory_alone, microseconds(80));
}

TEST(GemmLaw, what_is_read_is_the_panels_of_the_tiles_at_once) {
  // 10 tiles at once row by row: 3 rows and all 4 columns, 700 lines of 2,000 B; four times.
  EXPECT_EQ(operand_traffic(gemm(), gpu(), kRun), 5'600'000);
  EXPECT_EQ(tile_work(gemm(), gpu(), kRun).read, bytes(140'000));
}

TEST(GemmLaw, parts_of_a_tile_are_added_up_in_float32) {
  EXPECT_EQ(tile_result(gemm()), bytes(20'000));
  TiledGemm split = gemm();
  split.split_k = 4;
  EXPECT_EQ(tile_result(split), bytes(80'000));
  EXPECT_EQ(tile_work(split, gpu(), kRun).flops, flops(5'000'000));
}

TEST(GemmLaw, by_itself_lasts_as_its_rounds_and_the_memory_together) {
  // 4 rounds of 40 us; 40 tiles of 160 KB at 1 TB/s: 6.4 us.
  EXPECT_NEAR(gemm_seconds(gemm(), gpu(), 1), std::hypot(160, 6.4) * 1e-6, 1e-12);
  EXPECT_NEAR(gemm_seconds(gemm(), gpu(), 2), std::hypot(320, 12.8) * 1e-6, 1e-12);
}

TEST(GemmLaw, a_large_one_runs_at_what_is_reached) {
  // 5 x 10^12 operations a second.
  EXPECT_EQ(matrix_rate(gpu(), 0.5), gigaflops(5000));
  EXPECT_DOUBLE_EQ(large_gemm_seconds(gpu(), 1e13, 0.5), 2);
}

}  // namespace
}  // namespace weft::gemm_law_test
