// What loads and stores take. 1 TB/s, 400 ns and 50 more for each doubling; p = 2, so that two
// equal times together take sqrt 2 of one.
#include "sim/gpu_model/memory_law.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::memory_law_test {
namespace {

GpuSpec gpu() {
  GpuSpec spec;
  spec.memory = {.bandwidth = gigabytes_per_second(1000),
                 .write_cost = 1.5,
                 .latency = nanoseconds(400),
                 .doubling = nanoseconds(50),
                 .bend = 2,
                 .capacity = {},
                 .side_cache = {}};
  spec.l2 = {.capacity = mebibytes(64),
             .dies = 2,
             .copies = 2,
             .latency = nanoseconds(250),
             .bandwidth = gigabytes_per_second(1000)};
  return spec;
}

// 256 threads x 4 loads x 16 B = 16 KiB.
WgShape wg() {
  WgShape shape;
  shape.threads = 256;
  shape.loads_in_flight = 4;
  return shape;
}

TEST(MemoryLaw, each_doubling_of_the_loads_in_flight_waits_as_much_longer) {
  EXPECT_EQ(stream_latency(gpu(), 1), nanoseconds(400));
  EXPECT_EQ(stream_latency(gpu(), 2), nanoseconds(450));
  EXPECT_EQ(stream_latency(gpu(), 4), nanoseconds(500));
  // 50 log2 3 = 79.2481 ns, rounded to the nearest picosecond.
  EXPECT_EQ(stream_latency(gpu(), 3), picoseconds(479'248));
}

TEST(MemoryLaw, a_wg_waits_once_for_all_that_it_has_in_flight) {
  EXPECT_EQ(bytes_in_flight(wg()), 16'384);
  EXPECT_EQ(waits_for(16'384, wg()), 1);
  EXPECT_EQ(waits_for(16'385, wg()), 2);
  EXPECT_EQ(waits_for(0, wg()), 0);
}

TEST(MemoryLaw, a_written_byte_counts_for_its_cost) {
  EXPECT_EQ(surcharge_of_writes(gpu().memory, 1000), bytes(500));
}

TEST(MemoryLaw, each_die_keeps_its_part_in_as_many_copies) {
  EXPECT_EQ(kept_on_a_die(gpu().l2), mebibytes(16));  // 64 / 2 / 2
  EXPECT_EQ(kept_on_a_die({}), bytes(0));
}

TEST(MemoryLaw, a_demand_is_what_is_asked_for_over_what_there_is) {
  // 2 MB in 1 us: 2 TB/s of 1.
  EXPECT_DOUBLE_EQ(asked_rate(2e6, microseconds(1)), 2e12);
  EXPECT_DOUBLE_EQ(memory_demand(gpu(), 2e6, microseconds(1)), 2);
}

// 10 WGs of 64 KiB: 4 waits of 500 ns are 2 us alone; 655,360 B at 1 TB/s are 0.65536 us.
TEST(MemoryLaw, a_stream_takes_what_its_wgs_and_the_memory_take_together) {
  const StreamKernel reads{.wgs = 10, .wg = wg(), .read = 655'360};
  EXPECT_NEAR(stream_seconds(gpu(), reads), std::hypot(2, 0.65536) * 1e-6, 1e-15);
  // Written as well: 0.65536 x (1 + 1.5) us of the memory, and nobody waits for it.
  const StreamKernel copies{.wgs = 10, .wg = wg(), .read = 655'360, .written = 655'360};
  EXPECT_NEAR(stream_seconds(gpu(), copies), std::hypot(2, 1.6384) * 1e-6, 1e-15);
}

TEST(MemoryLaw, a_stream_lasts_as_its_wg_with_the_most_bytes) {
  // 16,385 B each: two waits, 1 us; next to nothing of the memory.
  GpuSpec ample = gpu();
  ample.memory.bandwidth = gigabytes_per_second(1'000'000'000);
  const StreamKernel reads{.wgs = 3, .wg = wg(), .read = 3 * 16'384 + 1};
  EXPECT_NEAR(stream_seconds(ample, reads), 1e-6, 1e-12);
}

TEST(MemoryLaw, a_stream_from_the_l2_has_its_latency_and_bandwidth) {
  // 4 waits of 250 ns, 0.65536 us of the L2's 1 TB/s.
  const StreamKernel reads{.wgs = 10, .wg = wg(), .read = 655'360};
  EXPECT_NEAR(l2_stream_seconds(gpu(), reads), std::hypot(1, 0.65536) * 1e-6, 1e-15);
  GpuSpec unknown = gpu();
  unknown.l2.bandwidth = {};
  EXPECT_NEAR(l2_stream_seconds(unknown, reads), 1e-6, 1e-15);
}

}  // namespace
}  // namespace weft::memory_law_test
