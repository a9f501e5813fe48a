// What each policy is for, on the kernel that shows it.
#include <gtest/gtest.h>

#include "sim/cache/sample.h"
#include "tests/unit/cache/machines.h"

namespace weft::cache::policies_test {
namespace {

constexpr std::size_t kUncached = 0;
constexpr std::size_t kCacheR = 1;
constexpr std::size_t kCacheRw = 2;
constexpr std::size_t kAllocationBypass = 3;
constexpr std::size_t kCacheRinse = 4;
constexpr std::size_t kPcBypass = 5;

Sample run(const Application& application, std::size_t policy,
           const Hierarchy& machine = small_machine()) {
  return sum(sample(machine, application, {.policy = kPolicies[policy].policy}));
}

TEST(CachePolicies, stores_of_one_line_are_combined_where_they_are_cached) {
  // Each WG adds to its own 128 B sixteen times.
  Kernel kernel = stream_kernel(64, bytes(128), Op::store);
  kernel.steps = 16;
  const Application sums{.arrays = {{"sums", kibibytes(8)}}, .kernels = {kernel}};
  EXPECT_EQ(run(sums, kUncached).dram.written, kibibytes(128));
  EXPECT_EQ(run(sums, kCacheR).dram.written, kibibytes(128));
  EXPECT_EQ(run(sums, kCacheRw).dram.written, kibibytes(8));
  EXPECT_EQ(run(sums, kCacheRw).l2.write_backs, 64);
}

TEST(CachePolicies, a_kernel_finds_what_the_one_before_it_wrote) {
  const Kernel writes = stream_kernel(16, kibibytes(2), Op::store);
  const Kernel reads = stream_kernel(16, kibibytes(2));
  const Application both{.arrays = {{"a", kibibytes(32)}}, .kernels = {writes, reads}};
  EXPECT_EQ(run(both, kCacheRw).dram.read, bytes(0));
  EXPECT_EQ(run(both, kCacheR).dram.read, kibibytes(32));
}

TEST(CachePolicies, a_cache_with_few_lines_holds_a_stream_up_and_bypassing_does_not) {
  // L1s of 16 lines: 4 x 16 x 128 B in 325 ns are 25 GB/s, of 512.
  Hierarchy machine = small_machine();
  machine.l1.capacity = kibibytes(2);
  machine.l2.mshrs = 1024;  // enough
  Kernel kernel = stream_kernel(128, kibibytes(16));
  kernel.wgs_per_cu = 4;
  const Application stream{.arrays = {{"a", mebibytes(2)}}, .kernels = {kernel}};
  const Sample cached = run(stream, kCacheR, machine);
  const Sample bypass = run(stream, kAllocationBypass, machine);
  EXPECT_GT(cached.time, microseconds(80));
  EXPECT_GT(cached.l1.stalled, Duration());
  EXPECT_EQ(bypass.l1.stalled, Duration());
  EXPECT_GT(cached.time, bypass.time * 5);
}

TEST(CachePolicies, dirty_lines_written_back_one_by_one_miss_their_rows_and_rinsing_mends_it) {
  // Stores to random lines of 1 MiB, 16 times the L2: evicted in any order, while reads stream.
  Kernel kernel = gather_kernel(64, 256, bytes(1024), {.table_rows = 1024});
  kernel.accesses[0].op = Op::store;
  const Application scatter{.arrays = {{"a", mebibytes(1)}}, .kernels = {kernel}};
  const Sample alone = run(scatter, kAllocationBypass);
  const Sample rinsed = run(scatter, kCacheRinse);
  const auto row_hits = [](const Sample& s) {
    const DramCounts& d = s.dram;
    return static_cast<double>(d.row_hits) /
           static_cast<double>(d.row_hits + d.row_misses + d.row_conflicts);
  };
  EXPECT_GT(row_hits(rinsed), row_hits(alone) + 0.2);
  EXPECT_LT(rinsed.time, alone.time);
}

TEST(CachePolicies, rinsing_leaves_a_quarter_of_the_cache_at_most_for_the_end) {
  // 256 KiB of stores by 4 CUs, as fast as the DRAM. At the end all of the L2 is dirty, 64 KiB: 128
  // ns at 512 GB/s; or a quarter of it: 32 ns, and its rows are opened once more.
  const Application stores{.arrays = {{"a", kibibytes(256)}},
                           .kernels = {stream_kernel(64, kibibytes(4), Op::store)}};
  EXPECT_GE(run(stores, kCacheRw).write_back, nanoseconds(128));
  EXPECT_LE(run(stores, kCacheRinse).write_back, nanoseconds(64));
}

TEST(CachePolicies, rinsing_writes_back_while_the_channel_is_idle) {
  // 8 KiB of stores, then 1 us of computing: nothing is left for the end.
  Kernel kernel = stream_kernel(4, kibibytes(2), Op::store);
  kernel.compute = microseconds(1);
  const Application stores{.arrays = {{"a", kibibytes(8)}}, .kernels = {kernel}};
  const Sample late = run(stores, kCacheRw);
  const Sample soon = run(stores, kCacheRinse);
  EXPECT_GT(late.write_back, Duration());
  EXPECT_EQ(soon.write_back, Duration());
  EXPECT_EQ(soon.dram.written, late.dram.written);
}

TEST(CachePolicies, an_instruction_whose_lines_are_not_used_again_leaves_the_l2_to_the_others) {
  // A stream of 8 KiB a step beside random rows of a table of 48 KiB, in an L2 of 64 KiB.
  Kernel kernel = gather_kernel(4, 16, bytes(128), {.table_rows = 384});
  kernel.steps = 128;
  kernel.accesses.push_back({.array = 1, .per_row = 1 << 20, .per_step = 8192, .row = bytes(8192)});
  const Application both{.arrays = {{"table", kibibytes(48)}, {"stream", mebibytes(4)}},
                         .kernels = {kernel}};
  const Bytes stream = mebibytes(4);
  const Bytes table_before = run(both, kCacheRinse).dram.read - stream;
  const Bytes table_after = run(both, kPcBypass).dram.read - stream;
  EXPECT_GT(table_before, kibibytes(256));
  EXPECT_LT(table_after * 2, table_before);
}

}  // namespace
}  // namespace weft::cache::policies_test
