// What weft calibrate finds in the lines of H200s, beside configs/gpus/h200.yaml, whose numbers
// were found by hand, some of them from lines of other kernels. The fit starts elsewhere.
#include <gtest/gtest.h>

#include <string>

#include "sim/measured/fit.h"
#include "sim/measured/lines.h"
#include "tests/unit/engine/simulated.h"

namespace weft::h200_fit_test {
namespace {

GpuSpec h200() { return scenario_of_file("scenarios/gemv_ar_4x_h200.yaml").cluster.gpu; }

Fit fit_of(const std::string& name) {
  const MeasuredFile measured =
      read_measured(std::string(WEFT_SOURCE_DIR) + "/calibration/measurements/" + name);
  EXPECT_FALSE(measured.problems.has_errors()) << measured.problems.to_text();
  GpuSpec gpu = h200();
  gpu.gather = {.latency = nanoseconds(900),
                .doubling = nanoseconds(10),
                .cached = nanoseconds(600),
                .unfairness = 0.1};
  if (name == "h200-x2-chase.jsonl") {  // it holds nothing of streams
    gpu.launch.ramp = nanoseconds(100);
    return fit_machine(measured.lines, gpu, {});
  }
  gpu.memory.bandwidth = gigabytes_per_second(3000);
  gpu.memory.latency = nanoseconds(800);
  gpu.memory.bend = 1.5;
  gpu.memory.write_cost = 1;
  gpu.l2.bandwidth = gigabytes_per_second(4000);
  gpu.peer_store.fence_gap = nanoseconds(1);
  return fit_machine(measured.lines, gpu, {});
}

double in_terabytes(Bandwidth rate) { return static_cast<double>(rate.count()) * 1e-12; }

TEST(H200Fit, of_two_gpus_comes_near_what_was_found_by_hand) {
  const Fit fit = fit_of("h200-x2.jsonl");
  const GpuSpec gpu = h200();
  EXPECT_NEAR(in_terabytes(fit.gpu.memory.bandwidth), in_terabytes(gpu.memory.bandwidth), 0.1);
  EXPECT_NEAR(to_microseconds(fit.gpu.memory.latency), to_microseconds(gpu.memory.latency), 0.02);
  EXPECT_NEAR(to_microseconds(fit.gpu.memory.doubling), to_microseconds(gpu.memory.doubling),
              0.012);
  EXPECT_NEAR(fit.gpu.memory.bend, gpu.memory.bend, 0.5);
  EXPECT_NEAR(fit.gpu.memory.write_cost, gpu.memory.write_cost, 0.07);
  EXPECT_NEAR(in_terabytes(fit.gpu.l2.bandwidth), in_terabytes(gpu.l2.bandwidth), 0.4);
}

// Found by hand with a kernel that does more between two steps, 30 to 40 ns of it.
TEST(H200Fit, of_random_rows_comes_near_what_was_found_by_hand) {
  const Fit fit = fit_of("h200-x2-chase.jsonl");
  const GpuSpec gpu = h200();
  const auto off_us = [](Duration a, Duration b) {
    return to_microseconds(a) - to_microseconds(b);
  };
  EXPECT_NEAR(off_us(fit.gpu.gather.cached, gpu.gather.cached), -0.035, 0.015);
  EXPECT_NEAR(off_us(fit.gpu.gather.latency, gpu.gather.latency), -0.035, 0.015);
  EXPECT_NEAR(off_us(fit.gpu.gather.doubling, gpu.gather.doubling), 0, 0.02);
  EXPECT_NEAR(fit.gpu.gather.unfairness, gpu.gather.unfairness, 0.005);
  EXPECT_NEAR(off_us(fit.gpu.launch.ramp, gpu.launch.ramp), 0, 0.25);
}

TEST(H200Fit, of_four_gpus_comes_near_what_was_found_by_hand) {
  const Fit fit = fit_of("h200-x4-reference.jsonl");
  const GpuSpec gpu = h200();
  EXPECT_NEAR(in_terabytes(fit.gpu.memory.bandwidth), in_terabytes(gpu.memory.bandwidth), 0.1);
  EXPECT_NEAR(to_microseconds(fit.gpu.memory.latency), to_microseconds(gpu.memory.latency), 0.02);
  EXPECT_NEAR(fit.gpu.memory.bend, gpu.memory.bend, 0.2);
  EXPECT_NEAR(fit.gpu.memory.write_cost, gpu.memory.write_cost, 0.05);
}

}  // namespace
}  // namespace weft::h200_fit_test
