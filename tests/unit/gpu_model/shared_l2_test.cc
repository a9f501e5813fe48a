#include <gtest/gtest.h>

#include "sim/gpu_model/memory_law.h"

namespace weft::shared_l2_test {
namespace {

// p = 2: alone x sqrt(1 + x^2), x WGs' bytes over what the L2 gives while one WG takes alone.
GpuSpec gpu() {
  GpuSpec spec;
  spec.l2.bandwidth = bytes_per_second(1'000'000'000'000);
  spec.memory.bend = 2;
  return spec;
}

TEST(SharedL2, does_not_slow_who_asks_for_nothing) {
  EXPECT_EQ(shared_l2_time(gpu(), microseconds(1), 0, 5, 2), microseconds(1));
}

TEST(SharedL2, of_unknown_bandwidth_slows_nobody) {
  GpuSpec spec = gpu();
  spec.l2.bandwidth = {};
  EXPECT_EQ(shared_l2_time(spec, microseconds(1), 1'000'000, 5, 2), microseconds(1));
}

TEST(SharedL2, bends_where_a_wg_alone_would_take_all) {
  // 1 MB in 1 us is all: x = 1.
  EXPECT_EQ(shared_l2_time(gpu(), microseconds(1), 1'000'000, 1, 1), picoseconds(1'414'214));
}

TEST(SharedL2, takes_its_share_who_does_not_wait_or_where_nothing_bends) {
  EXPECT_EQ(shared_l2_time(gpu(), Duration(), 1'000'000, 1, 1), microseconds(1));
  GpuSpec spec = gpu();
  spec.memory.bend = 1000;
  EXPECT_EQ(shared_l2_time(spec, nanoseconds(1), 1'000'000, 1, 1), microseconds(1));
}

TEST(SharedL2, is_shared_by_fewer_in_the_last_round) {
  // Three WGs on two places: x = 2, then 1: (sqrt 5 + sqrt 2) / 2.
  EXPECT_EQ(shared_l2_time(gpu(), microseconds(1), 1'000'000, 3, 2), picoseconds(1'825'141));
}

}  // namespace
}  // namespace weft::shared_l2_test
