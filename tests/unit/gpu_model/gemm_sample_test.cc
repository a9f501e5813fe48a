// What the cache model says that a GEMM reads, where it is known by other means.
#include "sim/gpu_model/gemm_sample.h"

#include <gtest/gtest.h>

#include "sim/cache/sample.h"
#include "tests/sanitized.h"

namespace weft::gemm_sample_test {
namespace {

constexpr std::int64_t kMiB = 1 << 20U;

// 16 CUs; one L2 in 4 slices.
cache::Hierarchy caches(Bytes l2) {
  return {.name = "small",
          .cus = 16,
          .line = bytes(128),
          .sector = bytes(128),
          .interleave = bytes(256),
          .l1 = {.capacity = kibibytes(16),
                 .slices = 1,
                 .ways = 16,
                 .mshrs = 128,
                 .bandwidth = gigabytes_per_second(256),
                 .latency = nanoseconds(20)},
          .l2 = {.capacity = l2,
                 .slices = 4,
                 .ways = 16,
                 .mshrs = 512,
                 .bandwidth = gigabytes_per_second(2000),
                 .latency = nanoseconds(100)},
          .die_to_die = {},
          .dram = {.channels = 8,
                   .banks = 16,
                   .row = kibibytes(1),
                   .bandwidth = gigabytes_per_second(500),
                   .latency = nanoseconds(300),
                   .activate = nanoseconds(14),
                   .precharge = nanoseconds(14),
                   .activate_interval = nanoseconds(2),
                   .close_after = microseconds(1),
                   .queue = 32}};
}

// 2,048 x 2,048 x 2,048 in bf16: 16 x 16 tiles of 128 x 128, A and B of 8 MiB each.
GemmTiles square() {
  GemmTiles tiles;
  tiles.rows = 16;
  tiles.columns = 16;
  tiles.row_bytes = 4096;
  tiles.tile_m = 128;
  tiles.tile_n = 128;
  tiles.element_bytes = 2;
  tiles.cus = 16;
  tiles.arithmetic = microseconds(40);
  tiles.in_flight = 65'536;
  return tiles;
}

void expect_about(const GemmTiles& tiles, const cache::Hierarchy& caches, double expected) {
  const auto read = static_cast<double>(sampled_traffic(tiles, caches).count());
  EXPECT_NEAR(read, expected, 0.02 * expected);
}

TEST(GemmSample, where_all_fits_both_operands_are_read_once) {
  EXPECT_EQ(sampled_traffic(square(), caches(mebibytes(64))), mebibytes(16));
}

TEST(GemmSample, of_tiles_row_by_row_each_wave_reads_its_rows_and_all_columns) {
  // 16 tiles at once are one row: 512 KiB of A and the 8 MiB of B, which 1 MiB cannot keep. 16
  // waves.
  const double expected = 16 * (0.5 + 8) * kMiB;
  expect_about(square(), caches(mebibytes(1)), expected);
}

TEST(GemmSample, of_tiles_in_squares_each_wave_reads_less) {
  // Groups of 4 rows, column by column: a wave is 4 x 4 tiles, 2 MiB of A and of B.
  GemmTiles tiles = square();
  tiles.together = 4;
  const double expected = 16 * (2 + 2) * kMiB;
  expect_about(tiles, caches(mebibytes(1)), expected);
}

TEST(GemmSample, parts_of_k_share_what_they_read_only_with_their_like) {
  // 4 parts of k: 16 WGs are 4 tiles of a row, which read 512 KiB of A and 2 MiB of B. 64 waves.
  GemmTiles tiles = square();
  tiles.split_k = 4;
  const double expected = 64 * (0.5 + 2) * kMiB;
  expect_about(tiles, caches(mebibytes(1)), expected);
}

TEST(GemmSample, dies_apart_each_read_what_their_tiles_touch) {
  // 2 dies: of a row of 16 tiles each has 8 columns: B is read once, A twice. 16 waves.
  cache::Hierarchy apart = caches(mebibytes(1));
  apart.dies = 2;
  apart.l2_dies = cache::Dies::apart;
  const double expected = 16 * (2 * 0.5 + 8) * kMiB;
  expect_about(square(), apart, expected);
}

TEST(GemmSample, a_collective_beside_it_takes_capacity) {
  // From one wave to the next, 40 us later, 8.5 MiB of A and B and 0.5 of C are touched: 16 MiB
  // keep B. Beside 400 GB/s it is 16 MB more, and B is read again by most of the 16 waves.
  GemmTiles tiles = square();
  EXPECT_EQ(sampled_traffic(tiles, caches(mebibytes(16))), mebibytes(16));
  tiles.beside = gigabytes_per_second(400);
  const Bytes polluted = sampled_traffic(tiles, caches(mebibytes(16)));
  EXPECT_GT(polluted, bytes(8 * 17 * kMiB / 2));
  EXPECT_LE(polluted, bytes(16 * 17 * kMiB / 2));
}

// The same GEMM with lines of 128 B as a matrix in rows of k holds them.
TEST(GemmSample, long_lines_say_what_short_ones_would) {
  const GemmTiles tiles = square();
  cache::Kernel kernel{.name = "gemm",
                       .grid_rows = 16,
                       .grid_columns = 16,
                       .steps = 32,
                       .compute = picoseconds(tiles.arithmetic.count() / 32),
                       .in_flight = 16,
                       .instruction = kibibytes(4)};
  for (int operand = 0; operand < 2; ++operand) {
    cache::Access access{.array = operand, .per_step = 128, .rows = 128};
    access.row = bytes(128);
    access.pitch = 4096;
    (operand == 0 ? access.per_row : access.per_column) = std::int64_t{128} * 4096;
    kernel.accesses.push_back(access);
  }
  const cache::Application application{.arrays = {{"A", mebibytes(8)}, {"B", mebibytes(8)}},
                                       .kernels = {kernel}};
  const cache::Policy reads = cache::kPolicies[1].policy;
  // 8 MiB are just B: there it matters how far WGs drift apart.
  struct Case {
    Bytes l2;
    double within;
  };
  for (const auto& [l2, within] : {Case{mebibytes(1), 0.05}, Case{mebibytes(4), 0.05},
                                   Case{mebibytes(8), 0.2}, Case{mebibytes(32), 0.05}}) {
    if (kSanitized && l2 != mebibytes(4)) continue;  // each takes seconds then
    const auto fine = static_cast<double>(
        cache::sample(caches(l2), application, {.policy = reads}).front().dram.read.count());
    const auto coarse = static_cast<double>(sampled_traffic(tiles, caches(l2)).count());
    EXPECT_NEAR(coarse, fine, within * fine) << l2.count();
  }
}

TEST(GemmSample, what_is_not_walked_reads_as_much_as_the_last_that_was) {
  // 64 times as many rows of tiles: 1,024 waves, half of which are walked.
  GemmTiles tiles = square();
  tiles.rows *= 64;
  const GemmSample walked = gemm_sample(tiles, caches(mebibytes(1)));
  EXPECT_LT(walked.wgs, tiles.rows * tiles.columns);
  const double expected = 1024 * (0.5 + 8) * kMiB;
  expect_about(tiles, caches(mebibytes(1)), expected);
}

}  // namespace
}  // namespace weft::gemm_sample_test
