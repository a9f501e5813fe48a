// What rows at random places take: 400 ns, 40 more for each doubling; 200 ns from the L2.
#include "sim/gpu_model/gather_law.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::gather_law_test {
namespace {

GpuSpec gpu() {
  GpuSpec spec;
  spec.memory.bandwidth = gigabytes_per_second(1000);
  spec.memory.bend = 2;
  spec.gather = {.latency = nanoseconds(400),
                 .doubling = nanoseconds(40),
                 .cached = nanoseconds(200),
                 .unfairness = 0.1};
  return spec;
}

TEST(GatherLatency, grows_with_the_rows_in_flight) {
  EXPECT_EQ(gather_latency(gpu(), 1, {}), nanoseconds(400));
  EXPECT_EQ(gather_latency(gpu(), 4, {}), nanoseconds(480));
}

TEST(GatherLatency, is_that_of_the_l2_only_where_all_rows_are_there) {
  EXPECT_EQ(gather_latency(gpu(), 1, {.in_l2 = 1}), nanoseconds(200));
  // Two rows, both there one time in four: 440 - (440 - 200) / 4.
  EXPECT_EQ(gather_latency(gpu(), 2, {.in_l2 = 0.5}), nanoseconds(380));
}

TEST(Unevenness, begins_where_the_memory_is_asked_for_too_much) {
  EXPECT_EQ(unevenness(gpu(), 1.5), 0);
  EXPECT_NEAR(unevenness(gpu(), 3.6), 0.2, 1e-12);  // 0.1 x (3.6 - 1.6)
  EXPECT_NEAR(unevenness(gpu(), 30), 0.5, 1e-12);   // half at most
}

// 100 WGs of 256 threads with 2 rows each: 819,200 B a step. 10 steps of 440 ns alone are 4.4 us;
// of the memory 8.192 us, or half of that where every other row is in the side cache.
TEST(Chase, takes_what_its_steps_and_the_memory_take_together) {
  ChaseKernel chase{.wgs = 100, .threads = 256, .in_flight = 2, .steps = 10, .found = {}};
  EXPECT_DOUBLE_EQ(bytes_of_step(chase), 819'200);
  EXPECT_NEAR(chase_seconds(gpu(), chase), std::hypot(4.4, 8.192) * 1e-6, 1e-15);
  chase.found.in_side_cache = 0.5;
  EXPECT_NEAR(chase_seconds(gpu(), chase), std::hypot(4.4, 4.096) * 1e-6, 1e-15);
}

TEST(Chase, of_what_the_l2_keeps_asks_the_memory_for_nothing) {
  const ChaseKernel chase{
      .wgs = 100, .threads = 256, .in_flight = 2, .steps = 10, .found = {.in_l2 = 1}};
  EXPECT_NEAR(chase_seconds(gpu(), chase), 2e-6, 1e-15);
}

}  // namespace
}  // namespace weft::gather_law_test
