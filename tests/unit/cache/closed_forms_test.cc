// Kernels whose traffic can be calculated by hand.
#include <gtest/gtest.h>

#include "sim/cache/sample.h"
#include "tests/unit/cache/machines.h"

namespace weft::cache::closed_forms_test {
namespace {

const Policy kUncached = kPolicies[0].policy;
const Policy kReads = kPolicies[1].policy;
const Policy kReadsAndWrites = kPolicies[2].policy;
const Policy kBypassing = kPolicies[3].policy;  // instead of waiting

Sample run(const Hierarchy& machine, const Kernel& kernel, Bytes array, const Policy& policy,
           std::int64_t passes = 1) {
  return sum(sample(machine, {.arrays = {{"a", array}}, .kernels = {kernel}},
                    {.policy = policy, .passes = passes}));
}

// An L1 of one line: only the L2 counts.
Hierarchy without_l1() {
  Hierarchy machine = small_machine();
  machine.l1.ways = 1;
  machine.l1.capacity = machine.line;
  return machine;
}

TEST(CacheClosedForms, a_stream_misses_each_line_once) {
  const Sample all = run(small_machine(), stream_kernel(64, kibibytes(16)), mebibytes(1), kReads);
  EXPECT_EQ(all.l1.loads, 8192);
  EXPECT_EQ(all.l1.misses, 8192);
  EXPECT_EQ(all.l2.misses, 8192);
  EXPECT_EQ(all.dram.read, mebibytes(1));
  EXPECT_EQ(all.dram.written, bytes(0));
  EXPECT_EQ(all.dram.row_hits + all.dram.row_misses + all.dram.row_conflicts, 8192);
}

TEST(CacheClosedForms, a_table_that_fits_is_read_once) {
  // 48 KiB, all rows drawn many times: 384 lines come from the DRAM and none again.
  const Kernel kernel = gather_kernel(16, 1024, bytes(128), {.table_rows = 384});
  EXPECT_EQ(run(small_machine(), kernel, kibibytes(48), kReads).dram.read, kibibytes(48));
  EXPECT_EQ(run(small_machine(), kernel, kibibytes(48), kReads, 2).dram.read, bytes(0));
}

TEST(CacheClosedForms, random_rows_hit_as_often_as_the_cache_is_part_of_the_table) {
  // 64 KiB of cache, tables of 2, 4, 8 times that: LRU keeps a random 1/2, 1/4, 1/8 of the lines.
  for (const int times : {2, 4, 8}) {
    const Bytes table = kibibytes(64) * times;
    const Kernel kernel = gather_kernel(16, 4096, bytes(128), {.table_rows = table.count() / 128});
    const Sample all = run(without_l1(), kernel, table, kReads, 2);
    EXPECT_NEAR(hit_rate(all.l2), 1.0 / times, 0.02) << times;
  }
}

TEST(CacheClosedForms, two_dies_hold_two_copies_of_what_both_read) {
  // N lines of a table, N / 2 fit a die. A line is kept for a time T after its use. A die uses the
  // lines it is home of at a rate of 1 + m: its own loads, and those of the other die that miss the
  // copy there; the others at 1. With m = exp(-T) of the copies missing, LRU fills the die:
  //   (1 - exp(-T (1 + m))) + (1 - m) = 1   ->   T = 0.548, m = 0.578
  // Half of all loads hit, and 57.8 % of those that miss look in the other die.
  Hierarchy machine = without_l1();
  machine.dies = 2;
  machine.dram.channels = 8;
  const Kernel kernel = gather_kernel(16, 8192, bytes(128), {.table_rows = 1024});
  const Sample home = run(machine, kernel, kibibytes(128), kReads, 2);
  EXPECT_NEAR(hit_rate(home.l2), 0.5, 0.02);
  EXPECT_NEAR(static_cast<double>(home.home.loads) / static_cast<double>(home.l2.misses), 0.578,
              0.03);
  // Apart, nobody looks in the other die.
  machine.l2_dies = Dies::apart;
  const Sample apart = run(machine, kernel, kibibytes(128), kReads, 2);
  EXPECT_NEAR(hit_rate(apart.l2), 0.5, 0.02);
  EXPECT_EQ(apart.home.loads, 0);
  EXPECT_EQ(apart.dram.read, bytes(128) * apart.l2.misses);
}

TEST(CacheClosedForms, tiles_of_a_gemm_are_asked_for_by_every_wg_and_fetched_once) {
  // M = N = 512, K = 128 in 2 bytes, tiles of 128 x 128, k in steps of 64: 4 x 4 WGs read 16 KiB of
  // A and of B in each of 2 steps. A row of tiles of A is 32 KiB; A and B together are 256 KiB.
  const std::int64_t pitch = 256;
  Kernel kernel{.grid_rows = 4, .grid_columns = 4, .steps = 2, .instruction = kibibytes(4)};
  const Access a{
      .per_row = 128 * pitch, .per_step = 128, .rows = 128, .row = bytes(128), .pitch = pitch};
  Access b = a;
  b.array = 1;
  std::swap(b.per_row, b.per_column);
  kernel.accesses = {a, b};
  const Application gemm{.arrays = {{"a", kibibytes(128)}, {"b", kibibytes(128)}},
                         .kernels = {kernel}};
  Hierarchy machine = without_l1();
  machine.l2.capacity = kibibytes(512);
  const Sample fits = sum(sample(machine, gemm, {.policy = kReads}));
  EXPECT_EQ(fits.l1.loads, 16 * 2 * 256);
  EXPECT_EQ(fits.dram.read, kibibytes(256));
  const Sample uncached = sum(sample(machine, gemm, {.policy = kUncached}));
  EXPECT_EQ(uncached.dram.read, kibibytes(1024));  // 16 WGs x 2 steps x 32 KiB
}

TEST(CacheClosedForms, a_stream_takes_as_long_as_the_dram_moves_it) {
  // 8 MiB at 512 GB/s: 16.384 us, and the way there and back. Enough WGs to keep it busy.
  Kernel kernel = stream_kernel(512, kibibytes(16));
  kernel.wgs_per_cu = 8;
  Hierarchy machine = small_machine();
  machine.dram.queue = 64;
  const Duration time = run(machine, kernel, mebibytes(8), kUncached).time;
  EXPECT_GT(time, picoseconds(16'384'000));
  EXPECT_LT(time, picoseconds(18'500'000));
}

TEST(CacheClosedForms, hits_take_as_long_as_the_ports_of_the_l2_move_them) {
  // 4 MiB of hits at 512 GB/s: 8.192 us; the four L1s can take as much, and have no line to wait
  // for. The slices are not asked evenly at any moment, and a WG waits for its slowest line.
  Kernel kernel = gather_kernel(256, 128, bytes(128), {.table_rows = 256});
  kernel.wgs_per_cu = 8;
  const Duration time = run(without_l1(), kernel, kibibytes(32), kBypassing, 2).time;
  EXPECT_GT(time, picoseconds(8'192'000));
  EXPECT_LT(time, picoseconds(13'000'000));
}

TEST(CacheClosedForms, compute_hides_what_the_memory_takes) {
  // 16 steps of 10 us each, on 4 KiB that come in less: 160 us, and the last load.
  Kernel kernel = stream_kernel(4, kibibytes(4));
  kernel.steps = 16;
  kernel.accesses[0].per_row = 65536;
  kernel.accesses[0].per_step = 4096;
  kernel.compute = microseconds(10);
  const Duration time = run(small_machine(), kernel, kibibytes(256), kReads).time;
  EXPECT_GE(time, microseconds(160));
  EXPECT_LT(time, microseconds(162));
}

TEST(CacheClosedForms, the_same_input_gives_the_same_sample) {
  const Kernel kernel = gather_kernel(64, 256, bytes(128), {.table_rows = 4096, .zipf = 0.8});
  const Sample once = run(small_machine(), kernel, kibibytes(512), kReadsAndWrites);
  EXPECT_EQ(once, run(small_machine(), kernel, kibibytes(512), kReadsAndWrites));
}

TEST(CacheClosedForms, every_load_is_counted_once_at_each_level) {
  Kernel kernel = gather_kernel(64, 256, bytes(128), {.table_rows = 4096});
  kernel.accesses.push_back({.op = Op::store, .per_row = 4096, .row = bytes(4096)});
  for (const NamedPolicy& named : kPolicies) {
    const Sample all = run(small_machine(), kernel, kibibytes(512), named.policy);
    std::int64_t stores_past_l2 = 0;
    for (const LevelCounts& level : {all.l1, all.l2}) {
      const std::int64_t loads = level.hits + level.merged + level.misses;
      stores_past_l2 = level.bypasses - (level.loads - loads);
      EXPECT_GE(stores_past_l2, 0) << named.name;
      EXPECT_LE(stores_past_l2, level.stores) << named.name;
    }
    EXPECT_EQ(all.l2.loads, all.l1.loads - all.l1.hits - all.l1.merged) << named.name;
    // What is written is written at last.
    EXPECT_EQ(all.dram.written, bytes(64 * 4096)) << named.name;
  }
}

}  // namespace
}  // namespace weft::cache::closed_forms_test
