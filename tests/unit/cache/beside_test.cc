// Kernels that run at the same time, and parts of a place of the grid.
#include <gtest/gtest.h>

#include "sim/cache/sample.h"
#include "tests/unit/cache/machines.h"

namespace weft::cache::beside_test {
namespace {

const Policy kReads = kPolicies[1].policy;

// 4 WGs, one a CU, read the same 32 KiB again and again: half of the L2, four times an L1.
Application reader() {
  Kernel kernel{.name = "reader",
                .grid_rows = 4,
                .steps = 50,
                .in_flight = 1,
                .instruction = kibibytes(4),
                .accesses = {{.row = kibibytes(32)}}};
  return {.arrays = {{"a", kibibytes(32)}}, .kernels = {kernel}};
}

// 4 WGs that read what is never used again: a line, and then wait.
Kernel streamer(Duration wait) {
  Kernel kernel = stream_kernel(4, mebibytes(16));
  kernel.steps = 100'000;
  kernel.compute = wait;
  kernel.accesses[0].array = 1;
  kernel.accesses[0].row = bytes(128);
  kernel.accesses[0].per_step = 128;
  kernel.beside = true;
  return kernel;
}

Application reader_beside(const Kernel& other) {
  Application both = reader();
  both.arrays.push_back({"b", mebibytes(64)});
  both.kernels.push_back(other);
  return both;
}

Sample run(const Application& application, const SampleOptions& options) {
  const std::vector<Sample> samples = sample(small_machine(), application, options);
  EXPECT_EQ(samples.size(), 1U);
  return samples.front();
}

Bytes own_reads(const Sample& sample) {
  return sample.dram.read - small_machine().line * sample.loads_beside;
}

TEST(CacheBeside, alone_what_fits_is_read_once) {
  const Sample alone = run(reader(), {.policy = kReads});
  EXPECT_EQ(alone.dram.read, kibibytes(32));
  EXPECT_EQ(alone.loads_beside, 0);
}

TEST(CacheBeside, a_stream_takes_what_it_brings_from_one_use_to_the_next) {
  // A pass over 32 KiB takes a few us. 4 lines a us leave it its place; 16 pieces of 4 KiB on their
  // way for each of 4 WGs are more than the L2 holds.
  const Bytes slow = own_reads(run(reader_beside(streamer(microseconds(1))), {.policy = kReads}));
  EXPECT_LT(slow, kibibytes(64));
  Kernel fast = streamer(Duration());
  fast.accesses[0].row = kibibytes(16);
  fast.accesses[0].per_step = kibibytes(16).count();
  fast.steps = 1000;
  fast.in_flight = 16;
  const Bytes all = own_reads(run(reader_beside(fast), {.policy = kReads}));
  EXPECT_GE(all, kibibytes(32) * 40);
}

TEST(CacheBeside, it_is_cut_off_where_the_other_ends) {
  // Each WG beside waits 10 us after each of 100,000 lines.
  const Sample sample = run(reader_beside(streamer(microseconds(10))), {.policy = kReads});
  EXPECT_GT(sample.loads_beside, 0);
  EXPECT_LE(sample.loads_beside, 4 * (sample.time.count() / microseconds(10).count() + 1));
}

TEST(CacheBeside, its_loads_are_in_the_counts_and_can_be_told_apart) {
  const Sample sample = run(reader_beside(streamer(Duration())), {.policy = kReads});
  EXPECT_EQ(sample.l1.loads - sample.loads_beside, 50 * 4 * 256);
}

TEST(CacheParts, of_a_place_come_one_after_another_and_move_on_by_their_step) {
  // 2 places of 3 parts; each reads 4 KiB of its own.
  Kernel kernel = stream_kernel(2, kibibytes(12));
  kernel.grid_parts = 3;
  kernel.accesses[0].row = kibibytes(4);
  kernel.accesses[0].per_part = kibibytes(4).count();
  const Application all{.arrays = {{"a", kibibytes(24)}}, .kernels = {kernel}};
  EXPECT_EQ(run(all, {.policy = kReads}).dram.read, kibibytes(24));
  // The first 4 WGs: all of the first place, a third of the second.
  EXPECT_EQ(run(all, {.policy = kReads, .wgs = 4}).dram.read, kibibytes(16));
}

}  // namespace
}  // namespace weft::cache::beside_test
