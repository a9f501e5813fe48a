// Which of its kernels a library takes, on a GPU of 100 CUs of which each holds a WG of the largest
// tile: 232 registers of 256 threads.
#include "sim/gpu_model/library_gemm.h"

#include <gtest/gtest.h>

#include "sim/gpu_model/cu_law.h"

namespace weft::library_gemm_test {
namespace {

GpuSpec gpu() {
  GpuSpec spec;
  spec.cus = 100;
  spec.wave_size = 32;
  spec.cu = {.waves = 64, .registers = 65'536, .lds = kibibytes(228), .wgs = 32};
  spec.bf16_matrix = gigaflops(1'000'000);
  spec.fp8_matrix = gigaflops(2'000'000);
  spec.l2 = {.capacity = mebibytes(50),
             .dies = 1,
             .copies = 1,
             .latency = nanoseconds(200),
             .bandwidth = {}};
  spec.memory.bandwidth = gigabytes_per_second(4000);
  spec.memory.bend = 2.5;
  return spec;
}

TEST(LibraryGemm, takes_the_largest_tile_where_there_are_many) {
  const TiledGemm chosen = library_gemm({.m = 256 * 100, .n = 128 * 16, .k = 8192}, gpu(), 1);
  EXPECT_EQ(chosen.tile_m, 256);
  EXPECT_EQ(chosen.tile_n, 128);
  EXPECT_EQ(chosen.split_k, 1);
  EXPECT_DOUBLE_EQ(chosen.efficiency, 0.7);
}

// A stage is (256 + 128) x 64 x 2 B = 48 KiB: four of them in 228 KiB; 192 KiB are 48 loads of 16 B
// of each of 256 threads.
TEST(LibraryGemm, has_as_many_stages_as_the_local_memory_holds) {
  const TiledGemm chosen = library_gemm({.m = 256 * 100, .n = 128 * 16, .k = 8192}, gpu(), 1);
  EXPECT_EQ(chosen.wg.lds, kibibytes(192));
  EXPECT_EQ(chosen.wg.loads_in_flight, 48);
  EXPECT_EQ(resident_on_cu(gpu(), chosen.wg), 1);
}

// Few rows: 64 x 8192 of A in bf16, and 16,384 columns of B, of which 128 elements take 68 B for
// 256: with both read once (64 + 16,384 x 0.265625) x 8192 x 2 B, 73 MB for 269.
TEST(LibraryGemm, reads_packed_weights_as_they_lie) {
  GemmSize size{.m = 64, .n = 16'384, .k = 8192};
  const auto read = [&] {
    const TiledGemm gemm = library_gemm(size, gpu(), 1);
    return static_cast<double>(operand_traffic(
        gemm, gpu(), {.cus = 100, .wgs_on_cu = resident_on_cu(gpu(), gemm.wg), .peers = 1}));
  };
  EXPECT_NEAR(read(), (64 + 16'384) * 8192 * 2, 0.01 * 269e6);
  const double as_they_are = gemm_seconds(library_gemm(size, gpu(), 1), gpu(), 1);
  size.b_size = 68.0 / 256;
  EXPECT_NEAR(read(), (64 + 16'384 * 0.265625) * 8192 * 2, 0.03 * 73e6);  // A again in each round
  EXPECT_LT(gemm_seconds(library_gemm(size, gpu(), 1), gpu(), 1), 0.6 * as_they_are);
}

TEST(LibraryGemm, splits_k_where_tiles_are_few) {
  const TiledGemm chosen = library_gemm({.m = 256, .n = 128, .k = 65'536}, gpu(), 1);
  EXPECT_GT(chosen.split_k, 1);
}

TEST(LibraryGemm, of_peers_divides_its_rows_of_tiles_among_them) {
  const TiledGemm chosen = library_gemm({.m = 512, .n = 4096, .k = 65'536}, gpu(), 8);
  EXPECT_EQ(512 % (chosen.tile_m * 8), 0);
  EXPECT_EQ(chosen.split_k, 1);
  EXPECT_EQ(library_gemm({.m = 100, .n = 4096, .k = 4096}, gpu(), 8).m, 0);
}

GpuSpec measured_gpu() {
  GpuSpec spec = gpu();
  spec.cu.lds = kibibytes(227);
  spec.library_gemm = LibraryGemmSpec{.tiles = LibraryTiles::few,
                                      .efficiency = 0.8,
                                      .load = gigabytes_per_second(100),
                                      .store = gigabytes_per_second(40),
                                      .start = nanoseconds(500),
                                      .sum = microseconds(3),
                                      .operand_cost = 1.25};
  return spec;
}

// 100 CUs of 8 TFLOP/s: a tile of 256 x 128 through 8192 takes 2 x 256 x 128 x 8192 / 8e12 = 67.11
// us; its operands, 384 x 8192 x 2 B at 100 GB/s, 62.91 us. Besides, 0.5 us and 64 KiB of results
// at 100 GB/s, 0.655 us.
TEST(LibraryGemm, where_it_was_measured_a_tile_takes_its_loop_its_start_and_its_result) {
  const GpuSpec spec = measured_gpu();
  const TiledGemm chosen = library_gemm({.m = 256 * 100, .n = 128 * 16, .k = 8192}, spec, 1);
  ASSERT_EQ(chosen.tile_m * chosen.tile_n, 256 * 128);
  EXPECT_EQ(resident_on_cu(spec, chosen.wg), 1);
  const TileWork work = tile_work(chosen, spec, {.cus = 100, .wgs_on_cu = 1, .peers = 1});
  EXPECT_NEAR(to_microseconds(work.memory_alone), 67.11 + 0.5 + 0.655, 0.01);
  EXPECT_EQ(work.more.count(), (work.read.count() + 2) / 4);
}

// Its 32,768 results leave as fp32: beyond what bf16 takes 64 KiB at 40 GB/s, 1.638 us; and 128 KiB
// that they are added to come at 100 GB/s, 1.311 us.
TEST(LibraryGemm, that_adds_to_fp32_numbers_also_reads_them_and_stores_twice_as_much) {
  const GpuSpec spec = measured_gpu();
  const TiledGemm chosen =
      library_gemm({.m = 256 * 100, .n = 128 * 16, .k = 8192, .accumulates = true}, spec, 1);
  ASSERT_EQ(chosen.tile_m * chosen.tile_n, 256 * 128);
  const TileWork work = tile_work(chosen, spec, {.cus = 100, .wgs_on_cu = 1, .peers = 1});
  EXPECT_NEAR(to_microseconds(work.memory_alone), 67.11 + 0.5 + 0.655 + 1.638 + 1.311, 0.01);
  EXPECT_EQ(tile_result(chosen).count(), 256 * 128 * (4 + 4));
}

// A tile of 16 x 64 loads 80 x 8192 x 2 B = 1.31 MB in 13.1 us and computes 2.1 us of that.
TEST(LibraryGemm, of_few_rows_waits_for_what_one_cu_can_load) {
  const GpuSpec spec = measured_gpu();
  const TiledGemm chosen = library_gemm({.m = 1, .n = 6400, .k = 8192}, spec, 1);
  const TileWork work = tile_work(chosen, spec, {.cus = 100, .wgs_on_cu = 1, .peers = 1});
  const double loaded = (chosen.tile_m + chosen.tile_n) * 8192.0 / chosen.split_k * 2;
  EXPECT_GE(to_microseconds(work.memory_alone), loaded / 100e9 * 1e6 + 0.5);
}

// 130 tiles of 256 x 128 are two rounds of 100 CUs; narrower ones are one.
TEST(LibraryGemm, of_many_tiles_fills_the_gpu_in_one_round) {
  GpuSpec spec = measured_gpu();
  spec.library_gemm->tiles = LibraryTiles::by_16;
  const TiledGemm chosen = library_gemm({.m = 2560, .n = 128 * 13, .k = 8192}, spec, 1);
  EXPECT_EQ(chosen.split_k, 1);
  EXPECT_LE(Tiles(chosen, 1).count(), 200);
  EXPECT_GT(Tiles(chosen, 1).count() % 100 == 0 ? 100 : Tiles(chosen, 1).count() % 100, 70);
}

// Of fp8 a CU computes 16 TFLOP/s, and its operands are half as long: the loop takes 33.55 us for
// 67.11; its results stay bf16.
TEST(LibraryGemm, of_fp8_computes_twice_as_fast_and_leaves_bf16) {
  const GpuSpec spec = measured_gpu();
  const TiledGemm chosen =
      library_gemm({.m = 256 * 100, .n = 128 * 16, .k = 8192, .element_bytes = 1}, spec, 1);
  ASSERT_EQ(chosen.tile_m * chosen.tile_n, 256 * 128);
  const TileWork work = tile_work(chosen, spec, {.cus = 100, .wgs_on_cu = 1, .peers = 1});
  EXPECT_NEAR(to_microseconds(work.memory_alone), 33.55 + 0.5 + 0.655, 0.01);
  EXPECT_EQ(tile_result(chosen).count(), 256 * 128 * 2);
}

// The loop over k takes 33.55 us, and 19 % of it for adding sums in fp32.
TEST(LibraryGemm, with_sums_in_fp32_has_a_longer_loop) {
  const GpuSpec spec = measured_gpu();
  const TiledGemm chosen = library_gemm(
      {.m = 256 * 100, .n = 128 * 16, .k = 8192, .element_bytes = 1, .fp32_sums = 0.19}, spec, 1);
  ASSERT_EQ(chosen.tile_m * chosen.tile_n, 256 * 128);
  const TileWork work = tile_work(chosen, spec, {.cus = 100, .wgs_on_cu = 1, .peers = 1});
  EXPECT_NEAR(to_microseconds(work.memory_alone), 33.55 * 1.19 + 0.5 + 0.655, 0.02);
}

TEST(LibraryGemm, with_scales_of_rows_has_one_tile_and_never_splits_k) {
  const TiledGemm chosen = library_gemm(
      {.m = 16, .n = 512, .k = 65'536, .element_bytes = 1, .kernels = GemmKernels::scaled},
      measured_gpu(), 1);
  EXPECT_EQ(chosen.tile_m, 128);
  EXPECT_EQ(chosen.tile_n, 128);
  EXPECT_EQ(chosen.split_k, 1);
}

// (128 a_cost + 128 b_cost) x k bytes at 100 GB/s; rows of 8,256 B are multiples of 64 B, so each
// 128 B of them touch 1.5 lines. 0.5 is `start`, 0.328 the result.
TEST(LibraryGemm, rows_that_are_no_multiple_of_a_line_take_more_lines) {
  GemmSize size{.m = 128, .n = 128, .k = 8256, .element_bytes = 1, .kernels = GemmKernels::scaled};
  const auto alone = [&](GemmLayout layout) {
    size.layout = layout;
    const TiledGemm chosen = library_gemm(size, measured_gpu(), 1);
    return to_microseconds(
        tile_work(chosen, measured_gpu(), {.cus = 100, .wgs_on_cu = 1, .peers = 1}).memory_alone);
  };
  EXPECT_NEAR(alone(GemmLayout::linear), 256 * 1.5 * 0.08256 + 0.5 + 0.328, 0.01);
  EXPECT_NEAR(alone(GemmLayout::nn), 128 * 2.5 * 0.08256 + 0.5 + 0.328, 0.01);
  EXPECT_NEAR(alone(GemmLayout::tn), 256 * 0.08256 + 0.5 + 0.328, 0.01);
}

// 256 x 128 in pairs that share 256 rows of A: of rows that are multiples of 16 B, 1.875 lines
// each, the L2 reads (128 + 128) x 1.875 for a WG, more than the 384 that come into its CU.
TEST(LibraryGemm, of_pairs_reads_the_longer_side_once_for_both) {
  GpuSpec spec = measured_gpu();
  GemmSize size{.m = 256 * 100, .n = 128 * 16, .k = 4104, .tile = {.m = 256, .n = 128}};
  const GemmRun run{.cus = 100, .wgs_on_cu = 1, .peers = 1};
  const auto loop = [&] {
    const TiledGemm chosen = library_gemm(size, spec, 1);
    return to_microseconds(tile_work(chosen, spec, run).memory_alone) - 0.5 - 0.655;
  };
  EXPECT_NEAR(loop(), 384 * 1.875 * 0.08208, 0.01);
  spec.library_gemm->cluster = 2;
  EXPECT_NEAR(loop(), 256 * 1.875 * 0.08208, 0.01);
  size.n = 128;  // no second column of tiles
  EXPECT_NEAR(loop(), 384 * 1.875 * 0.08208, 0.01);
}

// Rows of the result of 2,064 B are multiples of 16 B: 64 KiB leave as 1.875 times as many lines.
TEST(LibraryGemm, results_that_are_no_multiple_of_a_line_take_more_lines) {
  const GpuSpec spec = measured_gpu();
  GemmSize size{.m = 256 * 100, .n = 2048, .k = 8192, .tile = {.m = 256, .n = 128}};
  const auto fixed = [&] { return to_microseconds(library_gemm(size, spec, 1).library.fixed); };
  EXPECT_NEAR(fixed(), 0.5 + 0.655, 0.001);
  size.n = 2040;
  EXPECT_NEAR(fixed(), 0.5 + 0.655 * 1.875, 0.001);
}

// Rows of 8,193 B come byte by byte, 16 times as many loads. A vector is one row in any layout.
TEST(LibraryGemm, without_bulk_copies_loads_as_much_as_rows_are_aligned_to) {
  GpuSpec spec = measured_gpu();
  spec.library_gemm->unaligned = microseconds(3);
  GemmSize size{.m = 128, .n = 128, .k = 8193, .element_bytes = 1, .kernels = GemmKernels::scaled};
  const GemmRun run{.cus = 100, .wgs_on_cu = 1, .peers = 1};
  EXPECT_NEAR(to_microseconds(tile_work(library_gemm(size, spec, 1), spec, run).memory_alone),
              256 * 16 * 0.08193 + 0.5 + 0.328 + 3, 0.01);
  size.layout = GemmLayout::tn;
  EXPECT_EQ(library_gemm(size, spec, 1).library.a_cost, 1);
  size.m = 1;
  EXPECT_EQ(library_gemm(size, spec, 1).library.a_cost, 16);
}

// 129 elements of k of bf16 are three stages of 64, as 192 are, in a kernel of several sizes
// (layout: none lies along k); what they read and compute is theirs.
TEST(LibraryGemm, of_several_sizes_multiplies_whole_stages_of_k) {
  const GpuSpec spec = measured_gpu();
  const auto tile_of = [&spec](std::int64_t k, GemmKernels kernels) {
    const GemmSize size{.m = 1024, .n = 1024, .k = k, .layout = GemmLayout::tn, .kernels = kernels};
    return tile_work(library_gemm(size, spec, 1), spec, {.cus = 100, .wgs_on_cu = 1, .peers = 1});
  };
  const TileWork some = tile_of(129, GemmKernels::grouped);
  const TileWork more = tile_of(192, GemmKernels::grouped);
  EXPECT_EQ(some.memory_alone, more.memory_alone);
  EXPECT_EQ(some.arithmetic_alone, more.arithmetic_alone);
  EXPECT_EQ(some.flops.count() * 192, more.flops.count() * 129);
  EXPECT_LT(some.read, more.read);
  EXPECT_LT(tile_of(128, GemmKernels::grouped).memory_alone, some.memory_alone);
  EXPECT_LT(tile_of(129, GemmKernels::any).memory_alone,
            tile_of(192, GemmKernels::any).memory_alone);
}

// 300 rows are three tiles of 128, so two pairs; the fourth has nothing to do and its time all the
// same.
TEST(LibraryGemm, of_several_sizes_has_pairs_of_tiles) {
  const GpuSpec spec = measured_gpu();
  const GemmSize size{.m = 300, .n = 256, .k = 8192, .kernels = GemmKernels::grouped};
  const TiledGemm chosen = library_gemm(size, spec, 1);
  EXPECT_EQ(chosen.tile_m, 128);
  EXPECT_EQ(Tiles(chosen, 1).count(), 4);
  const TileWork work = tile_work(chosen, spec, {.cus = 100, .wgs_on_cu = 1, .peers = 1});
  EXPECT_NEAR(to_microseconds(work.memory_alone), 67.11 + 0.5 + 0.655, 0.01);
}

}  // namespace
}  // namespace weft::library_gemm_test
