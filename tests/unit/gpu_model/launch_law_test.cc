// What stands around a kernel: 2.5 us of clock, 1.2 us in the queue, 0.8 us of ramp, 1 ns a WG.
#include "sim/gpu_model/launch_law.h"

#include <gtest/gtest.h>

namespace weft::launch_law_test {
namespace {

LaunchSpec launch() {
  LaunchSpec spec;
  spec.clock = nanoseconds(2500);
  spec.queue = nanoseconds(1200);
  spec.ramp = nanoseconds(800);
  spec.wg_interval = nanoseconds(1);
  return spec;
}

TEST(LaunchLaw, a_kernel_that_does_something_waits_for_its_ramp_too) {
  EXPECT_EQ(gap_of_work(launch(), nanoseconds(1200)), microseconds(2));
}

TEST(LaunchLaw, wgs_start_one_after_another) {
  EXPECT_DOUBLE_EQ(last_wg_seconds(launch(), 1), 0);
  EXPECT_DOUBLE_EQ(last_wg_seconds(launch(), 801), 0.8e-6);
}

TEST(LaunchLaw, a_row_of_kernels_is_measured_with_one_clock_and_all_gaps) {
  EXPECT_NEAR(measured_row_seconds(launch(), nanoseconds(1200), 10, 1), 14.5e-6, 1e-15);
  // 10 x (1.2 + 0.8) + 2.5
  EXPECT_NEAR(measured_row_seconds(launch(), nanoseconds(1200), 10, 801), 22.5e-6, 1e-15);
}

TEST(LaunchLaw, one_kernel_is_measured_with_what_is_around_it) {
  EXPECT_NEAR(measured_seconds(launch(), 10e-6), 12.5e-6, 1e-15);
  EXPECT_NEAR(measured_kernel_seconds(launch(), 10e-6), 13.7e-6, 1e-15);
  EXPECT_NEAR(measured_work_seconds(launch(), 10e-6), 14.5e-6, 1e-15);
}

}  // namespace
}  // namespace weft::launch_law_test
