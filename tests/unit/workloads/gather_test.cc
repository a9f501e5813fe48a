// Which rows the caches still hold, where it is known by other means.
#include "sim/workloads/gather.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace weft::gather_test {
namespace {

constexpr std::int64_t kRow = 1024;

GpuSpec gpu_of(Bytes l2) {
  GpuSpec gpu;
  gpu.cus = 100;
  gpu.l2 = {.capacity = l2, .dies = 1, .copies = 1, .latency = {}, .bandwidth = {}};
  return gpu;
}

// 400 WGs at once; 2 million look-ups in all.
GatherWalk one_table(std::int64_t rows) {
  GatherWalk walk;
  walk.walk = TableWalk::by_table;
  walk.tables = 1;
  walk.rows_per_table = rows;
  walk.row_bytes = kRow;
  walk.wgs = 2048;
  walk.wgs_of_a_table = 2048;
  walk.rows_per_wg = 32;
  walk.rows_at_once = 4;
  walk.pooling = 32;
  walk.in_flight = 4;
  walk.on_cu = 4;
  return walk;
}

TEST(FoundRows, of_a_short_kernel_are_few_unless_earlier_lookups_left_them) {
  // 64 WGs of 1,024 look-ups in a table of 65,536 rows, of which the L2 keeps 16,384. Cold: of rows
  // drawn x times as many as the table has, 1 - (1 - e^-x) / x are repeats: of the 16,384 drawn
  // before the cache is full (x = 1/4) 11.5 %, then a quarter: (11.5 + 3 x 25) / 4 = 21.6 %. Warm:
  // a quarter of all.
  GatherWalk walk = one_table(64 * 1024);
  walk.wgs = 64;
  walk.wgs_of_a_table = 64;
  EXPECT_NEAR(find_rows(walk, gpu_of(mebibytes(16))).in_l2, 0.216, 0.01);
  walk.l2_is_warm = true;
  EXPECT_NEAR(find_rows(walk, gpu_of(mebibytes(16))).in_l2, 0.25, 0.01);
  // A table that fits is there already.
  walk.rows_per_table = 8 * 1024;
  EXPECT_GT(find_rows(walk, gpu_of(mebibytes(16))).in_l2, 0.99);
}

TEST(FoundRows, of_a_table_that_fits_are_all_but_the_first_touches) {
  // 10 MiB of 16: each of 10,240 rows misses once of 2,097,152 look-ups; a few sets of 16 ways get
  // more than 16 rows.
  const RowsFound found = find_rows(one_table(10 * 1024), gpu_of(mebibytes(16)));
  EXPECT_NEAR(found.in_l2, 1 - 10'240.0 / 2'097'152, 0.015);
  EXPECT_EQ(found.in_side_cache, 0);
}

TEST(FoundRows, of_a_table_that_does_not_fit_are_its_part_that_does) {
  // Least recently used, of rows all equally likely: capacity / size.
  const RowsFound found = find_rows(one_table(64 * 1024), gpu_of(mebibytes(16)));
  EXPECT_NEAR(found.in_l2, 0.25, 0.01);
}

TEST(FoundRows, are_fewer_where_every_line_is_kept_twice) {
  GpuSpec gpu = gpu_of(mebibytes(16));
  gpu.l2.copies = 2;
  EXPECT_NEAR(find_rows(one_table(64 * 1024), gpu).in_l2, 0.125, 0.01);
}

TEST(FoundRows, are_fewer_where_each_die_has_its_own_l2) {
  GpuSpec gpu = gpu_of(mebibytes(16));
  gpu.l2.dies = 4;
  EXPECT_NEAR(find_rows(one_table(64 * 1024), gpu).in_l2, 0.0625, 0.01);
}

TEST(FoundRows, may_be_in_the_side_cache) {
  // The L2 holds a quarter, the side cache all; each of 65,536 rows misses both once, of 2,097,152
  // look-ups.
  GpuSpec gpu = gpu_of(mebibytes(16));
  gpu.memory.side_cache = mebibytes(128);
  const RowsFound found = find_rows(one_table(64 * 1024), gpu);
  EXPECT_NEAR(found.in_l2, 0.25, 0.01);
  EXPECT_NEAR(found.in_side_cache, 1 - 0.25 - 65'536.0 / 2'097'152, 0.01);
}

// Che, Tung, Wang (2002): under LRU a row stays until so many others were asked for that they fill
// the cache, so that of rows with the probabilities p it holds each with 1 - e^(-p t), where the
// sum of that over all rows is its capacity; those are the hits.
double che(const std::vector<double>& p, double capacity) {
  const auto held = [&](double t, auto weight) {
    double sum = 0;
    for (const double one : p) sum += weight(one) * (1 - std::exp(-one * t));
    return sum;
  };
  double low = 0;
  double high = 1e9;
  for (int i = 0; i < 100; ++i) {
    const double t = (low + high) / 2;
    (held(t, [](double) { return 1.0; }) < capacity ? low : high) = t;
  }
  return held(low, [](double one) { return one; });
}

// How often each of `rows` rows is asked for.
std::vector<double> zipf_law(int rows, double zipf) {
  std::vector<double> p;
  double all = 0;
  for (int x = 1; x <= rows; ++x) all += p.emplace_back(std::pow(x, -zipf));
  for (double& one : p) one /= all;
  return p;
}

TEST(FoundRows, of_a_table_with_hot_rows_are_what_lru_keeps_of_zipfs_law) {
  // 65,536 rows, 16,384 of which fit: 25 % if all were alike.
  for (const double zipf : {0.6, 1.0, 1.4}) {
    GatherWalk walk = one_table(64 * 1024);
    walk.zipf = zipf;
    const std::vector<double> p = zipf_law(64 * 1024, zipf);
    // 0.01: the cache is filled first, 16,384 of 2,097,152 look-ups, and sets hold 16 rows.
    EXPECT_NEAR(find_rows(walk, gpu_of(mebibytes(16))).in_l2, che(p, 16 * 1024), 0.01) << zipf;
  }
}

// Sample by sample, 32 tables of 20,000 rows; 400 WGs look up 32 rows each of 4 tables at once.
GatherWalk hot_tables() {
  GatherWalk walk = one_table(20'000);
  walk.walk = TableWalk::by_sample;
  walk.tables = 32;
  return walk;
}

TEST(FoundRows, of_tables_walked_in_step_are_more_than_of_all_tables_at_random) {
  // At random 16 MiB of 625 MiB would be 2.6 %. In step, 12,800 look-ups go to each of 4 tables, of
  // 78 MiB: x = 0.64 of its rows, of which c = 0.205 stay. Until x0 = -ln(1 - c) all that was
  // touched is there: 1 - e^-x; from then on c: ((x0 - c) + c (x - x0)) / x = 0.166.
  const RowsFound found = find_rows(hot_tables(), gpu_of(mebibytes(16)));
  EXPECT_GT(found.in_l2, 0.026 * 3);
  EXPECT_LT(found.in_l2, 0.166 + 0.01);
}

TEST(FoundRows, are_fewer_where_some_cus_run_ahead) {
  GatherWalk uneven = hot_tables();
  uneven.unevenness = 0.2;
  const GpuSpec gpu = gpu_of(mebibytes(16));
  EXPECT_LT(find_rows(uneven, gpu).in_l2, 0.8 * find_rows(hot_tables(), gpu).in_l2);
}

// 100 CUs with an L1 of 256 rows each; the table has 65,536, of which the L2 holds a quarter.
GpuSpec gpu_with_l1() {
  GpuSpec gpu = gpu_of(mebibytes(16));
  gpu.gather.l1 = kibibytes(256);
  return gpu;
}

TEST(FoundRows, are_looked_for_in_the_l1_first) {
  const RowsFound found = find_rows(one_table(64 * 1024), gpu_with_l1());
  EXPECT_NEAR(found.in_l1, 256.0 / 65'536, 0.001);
  EXPECT_NEAR(found.in_l1 + found.in_l2, 0.25, 0.01);
}

TEST(FoundRows, that_are_hot_are_found_in_the_l1_as_lru_keeps_zipfs_law) {
  GatherWalk walk = one_table(64 * 1024);
  walk.zipf = 1.2;
  EXPECT_NEAR(find_rows(walk, gpu_with_l1()).in_l1, che(zipf_law(64 * 1024, 1.2), 256), 0.015);
}

// Without fences all that was ever looked up stays in an L1 that holds all; with them what was
// since the last WG's end, 32 x 32 look-ups of 1,024 rows all alike: 1 - (1 - e^-x) / x with x = 1.
TEST(FoundRows, are_forgotten_by_the_l1_at_a_fence) {
  GatherWalk walk = one_table(1024);
  walk.on_cu = 1;
  GpuSpec gpu = gpu_of(bytes(0));
  gpu.gather.l1 = mebibytes(2);
  EXPECT_GT(find_rows(walk, gpu).in_l1, 0.9);
  walk.fences = true;
  EXPECT_NEAR(find_rows(walk, gpu).in_l1, 0.368, 0.01);
}

TEST(FoundRows, are_fewer_beside_what_streams_through) {
  // 65,536 rows at random, a quarter of which fit, and as many bytes that are never used twice.
  // While each row is looked up x times, 65,536 (1 - e^-x) different ones are touched and 65,536 x
  // pass by; LRU keeps that which fills the cache: 1 - e^-x + x = 1/4, x = 0.129, 1 - e^-x = 0.121.
  GatherWalk walk = one_table(64 * 1024);
  walk.streamed = 1;
  EXPECT_NEAR(find_rows(walk, gpu_of(mebibytes(16))).in_l2, 0.121, 0.01);
}

TEST(FoundRows, are_the_same_every_time) {
  const GpuSpec gpu = gpu_of(mebibytes(16));
  EXPECT_EQ(find_rows(hot_tables(), gpu).in_l2, find_rows(hot_tables(), gpu).in_l2);
}

TEST(FoundRows, of_a_gpu_without_caches_are_none) {
  EXPECT_EQ(find_rows(one_table(1'000), gpu_of(bytes(0))).in_l2, 0);
}

}  // namespace
}  // namespace weft::gather_test
