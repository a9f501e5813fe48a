#include "sim/measured/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/measured/fit_steps.h"
#include "sim/measured/least_squares.h"
#include "sim/scenario/machine_numbers.h"

namespace weft::fit_test {
namespace {

TEST(LeastSquares, finds_the_parameters_that_made_the_times) {
  const std::vector<double> sizes = {1, 2, 5, 10, 100};
  const auto model = [&](const std::vector<double>& p) {
    std::vector<double> times;
    for (const double size : sizes) times.push_back(p[0] + p[1] * size);
    return times;
  };
  const Solution found = least_squares(model({3.0, 0.25}), {1, 1}, model);
  EXPECT_NEAR(found.parameters[0], 3.0, 1e-6);
  EXPECT_NEAR(found.parameters[1], 0.25, 1e-6);
  EXPECT_LT(found.worst, 1e-6);
}

// One factor, four lines off by + and - e: the residuals' variance is 4 e^2 / 3, the factor's a
// quarter of it. Two equal columns cannot be told apart.
TEST(LeastSquares, has_the_covariance_of_what_it_finds) {
  const auto factor = [](const std::vector<double>& p) {
    return std::vector<double>{p[0], p[0], p[0], p[0]};
  };
  constexpr double kOff = 0.01;
  const double up = std::exp(kOff);
  const Solution found = least_squares({5 * up, 5 / up, 5 * up, 5 / up}, {1}, factor);
  ASSERT_EQ(found.covariance.size(), 1U);
  EXPECT_NEAR(found.covariance[0][0], kOff * kOff / 3, 1e-9);
  const auto product = [&](const std::vector<double>& p) { return factor({p[0] * p[1]}); };
  EXPECT_TRUE(least_squares({5, 5.1, 5, 5.1}, {1, 1}, product).covariance.empty());
  EXPECT_TRUE(least_squares({5}, {1}, [](const std::vector<double>& p) {
                return std::vector<double>{p[0]};
              }).covariance.empty());
}

MeasuredLine line(const std::string& kind, std::map<std::string, std::int64_t> numbers, double us) {
  MeasuredLine one;
  one.kind = kind;
  one.us = us;
  one.numbers = std::move(numbers);
  return one;
}

// A machine that nobody has: other numbers than the base's, so that no fit finds them by staying.
GpuSpec base() {
  GpuSpec gpu;
  gpu.cus = 100;
  gpu.wave_size = 32;
  gpu.cu.waves = 64;
  gpu.memory.bandwidth = gigabytes_per_second(4000);
  gpu.memory.latency = nanoseconds(600);
  gpu.memory.bend = 2;
  gpu.launch.queue = microseconds(2);
  gpu.peer_store.wg_rate = gigabytes_per_second(5);
  gpu.peer_store.flag = nanoseconds(300);
  gpu.dma.schedule = microseconds(6);
  gpu.dma.signal = microseconds(3);
  gpu.dma.rate = gigabytes_per_second(100);
  return gpu;
}
const LinkSpec kLink = {.bandwidth = gigabytes_per_second(300), .latency = nanoseconds(500)};

// A row of n kernels takes 2.5 + 1.2 n us.
std::vector<MeasuredLine> launch_lines() {
  return {line("micro.empty_kernel", {{"n", 1}}, 3.7),
          line("micro.empty_kernel", {{"n", 101}}, 2.5 + 1.2 * 101)};
}

TEST(Fit, launches) {
  std::vector<MeasuredLine> lines = launch_lines();
  // 800 WGs take 799 intervals of 1 ns longer than one.
  lines.push_back(line("micro.empty_kernel_full", {{"n", 101}}, 2.5 + (1.2 + 0.799) * 101));
  const Fit fit = fit_machine(lines, base(), kLink);
  EXPECT_EQ(fit.gpu.launch.queue, nanoseconds(1200));
  EXPECT_EQ(fit.gpu.launch.clock, nanoseconds(2500));
  EXPECT_EQ(fit.gpu.launch.wg_interval, nanoseconds(1));
}

// 5 TB/s, 500 ns, bend 3; 16 KiB in flight: x = n x 16384 / 500 ns / 5 TB/s, rate = n x 32.8 GB/s x
// (1 + x^3)^(-1/3). The 500 ns are what four loads wait for: one load and two doublings.
class FitMemory : public ::testing::TestWithParam<int> {};

TEST_P(FitMemory, streams) {
  std::vector<MeasuredLine> lines = launch_lines();
  for (const int wgs : {1, 20, 100, 200, 800}) {
    const double demand = wgs * 16384 / 0.5;  // B/us
    const double rate = demand * std::pow(1 + std::pow(demand / 5e6, 3), -1.0 / 3);
    lines.push_back(
        line("micro.hbm_read", {{"wgs", wgs}, {"bytes", 1 << 28}}, 2.5 + 1.2 + (1 << 28) / rate));
  }
  GpuSpec gpu = base();
  gpu.memory.doubling = nanoseconds(GetParam());
  const Fit fit = fit_machine(lines, gpu, kLink);
  EXPECT_NEAR(static_cast<double>(fit.gpu.memory.bandwidth.count()), 5e12, 5e9);
  EXPECT_NEAR(to_microseconds(fit.gpu.memory.latency), 0.5 - 2e-3 * GetParam(), 0.001);
  EXPECT_NEAR(fit.gpu.memory.bend, 3, 0.01);
}
INSTANTIATE_TEST_SUITE_P(Doubling, FitMemory, ::testing::Values(0, 40));

// What calibrating writes, machine_numbers() reads; of numbers that lines leave open, nothing.
TEST(Fit, says_how_sure_numbers_are_as_it_is_read) {
  const std::vector<MeasuredLine> none;
  Fit fit{.gpu = base(), .link = kLink, .values = {}, .kept = {}, .problems = {}};
  FitRun run(none, fit);
  const auto read = [&](double spread, double of_other) {
    const double both = 0.5 * spread * of_other;
    const Solution found{.parameters = {1, 1},
                         .worst = 0.01,
                         .covariance = {{spread * spread, both}, {both, of_other * of_other}}};
    run.note("memory.latency", nanoseconds(500), "hbm_read, 3 lines",
             how_sure(found, 0, {"memory.latency", "memory.bend"}));
    std::string wrong;
    const std::optional<Spread> said = spread_in(fit.values.back().comment, wrong);
    EXPECT_EQ(wrong, "") << fit.values.back().comment;
    return said;
  };
  const std::optional<Spread> sure = read(0.04, 0.02);
  ASSERT_TRUE(sure);
  EXPECT_DOUBLE_EQ(sure->relative, 0.04);
  EXPECT_EQ(sure->correlation_with("memory.bend"), 0.5);
  ASSERT_TRUE(read(0.999, 0.02));
  EXPECT_DOUBLE_EQ(read(0.999, 0.02)->relative, 1);  // of two digits
  EXPECT_FALSE(read(2.6, 0.02));
  ASSERT_TRUE(read(0.04, 2.6));
  EXPECT_TRUE(read(0.04, 2.6)->with.empty());
}

// 10 GB/s a WG, 350 GB/s a link; a flag there takes 1.1 us, of which 0.3 are polling.
TEST(Fit, peer_stores_and_links) {
  std::vector<MeasuredLine> lines = launch_lines();
  for (const int wgs : {1, 8, 64}) {
    const double rate = std::min(wgs * 10e3, 350e3);
    lines.push_back(line("micro.p2p_store_one_peer", {{"wgs", wgs}, {"bytes", 1 << 26}},
                         2.5 + 1.2 + (1 << 26) / rate));
  }
  lines.push_back(line("micro.p2p_store_one_peer", {{"wgs", 1}, {"bytes", 1 << 26}}, 1335));
  lines.back().words["from"] = "registers";  // nothing is loaded: another kernel's rate
  lines.push_back(line("micro.flag_one_way", {{"n", 1000}}, 1.1));
  const Fit fit = fit_machine(lines, base(), kLink);
  EXPECT_NEAR(static_cast<double>(fit.gpu.peer_store.wg_rate.count()), 10e9, 1e7);
  EXPECT_NEAR(static_cast<double>(fit.link.bandwidth.count()), 350e9, 1e8);
  EXPECT_EQ(fit.link.latency, nanoseconds(400));
}

// 9 us and 200 GB/s; of the 9 us, two thirds come before the first byte, as in the base.
TEST(Fit, copy_engines) {
  std::vector<MeasuredLine> lines = launch_lines();
  for (const int bytes : {1 << 12, 1 << 20, 1 << 28}) {
    lines.push_back(line("micro.ce_copy_one_peer", {{"bytes", bytes}}, 2.5 + 9 + bytes / 200e3));
  }
  const Fit fit = fit_machine(lines, base(), kLink);
  EXPECT_NEAR(static_cast<double>(fit.gpu.dma.rate.count()), 200e9, 1e8);
  EXPECT_NEAR(to_microseconds(fit.gpu.dma.schedule), 6, 0.01);
  EXPECT_NEAR(to_microseconds(fit.gpu.dma.signal), 3, 0.01);
}

// 16 copies of 1 MB on an engine of 200 GB/s (5 us each) that waits 4 us before each further one:
// 9 + 16 x 5 + 15 x 4 us.
TEST(Fit, copies_behind_one_another) {
  std::vector<MeasuredLine> lines = launch_lines();
  for (const int bytes : {1 << 12, 1 << 20, 1 << 28}) {
    lines.push_back(line("micro.ce_copy_one_peer", {{"bytes", bytes}}, 2.5 + 9 + bytes / 200e3));
  }
  lines.push_back(
      line("micro.ce_copies_one_peer", {{"bytes", 1'000'000}, {"copies", 16}}, 2.5 + 9 + 80 + 60));
  const Fit fit = fit_machine(lines, base(), kLink);
  EXPECT_NEAR(to_microseconds(fit.gpu.dma.next), 4, 0.01);
  EXPECT_NEAR(static_cast<double>(engine_rate(fit.link).count()), 200e9, 1e8);
}

// 32 turns of 1.5 us: two links of 500 ns and 100 ns for 1 KiB at 10.24 GB/s leave 400 ns. Lines of
// more WGs or larger slices are not asked.
TEST(Fit, the_fence) {
  GpuSpec gpu = base();
  gpu.peer_store.wg_rate = Bandwidth::from_count(10'240'000'000);
  std::vector<MeasuredLine> lines = launch_lines();
  const auto turns = [](int wgs, int slice, double us) {
    return line("micro.store_fence_flag",
                {{"wgs", wgs}, {"slice_bytes", slice}, {"slices_per_wg", 32}}, 3.7 + 32 * us);
  };
  lines.push_back(turns(1, 1024, 1.5));
  lines.push_back(turns(16, 1024, 2.5));
  lines.push_back(turns(1, 65536, 9));
  const Fit fit = fit_machine(lines, gpu, kLink);
  EXPECT_NEAR(to_microseconds(fit.gpu.peer_store.fence), 0.4, 0.001);
}

// 2^40 operations in 1.5 ms at a peak of 1000 TFLOP/s: 0.733.
TEST(Fit, what_the_librarys_gemm_reaches_is_no_key_of_the_gpu) {
  GpuSpec gpu = base();
  gpu.bf16_matrix = FlopRate::from_count(1'000'000'000'000'000);
  std::vector<MeasuredLine> lines = launch_lines();
  lines.push_back(line("micro.gemm_library", {{"m", 8192}, {"n", 8192}, {"k", 8192}}, 3.7 + 1500));
  const Fit fit = fit_machine(lines, gpu, kLink);
  const auto found = std::find_if(
      fit.values.begin(), fit.values.end(),
      [](const FittedValue& value) { return value.path == "workload.gemm.efficiency"; });
  ASSERT_NE(found, fit.values.end());
  EXPECT_NEAR(std::stod(found->text), 0.733, 0.001);
}

// The same lines from a base thousands of times as fast: what they determine is theirs alone.
TEST(Fit, what_lines_determine_does_not_depend_on_the_base) {
  std::vector<MeasuredLine> lines = launch_lines();
  for (const int wgs : {1, 20, 100, 200, 800}) {
    const double demand = wgs * 16384 / 0.5;
    const double rate = demand * std::pow(1 + std::pow(demand / 5e6, 3), -1.0 / 3);
    lines.push_back(
        line("micro.hbm_read", {{"wgs", wgs}, {"bytes", 1 << 28}}, 2.5 + 1.2 + (1 << 28) / rate));
  }
  for (const int wgs : {1, 8, 64}) {
    lines.push_back(line("micro.p2p_store_one_peer", {{"wgs", wgs}, {"bytes", 1 << 26}},
                         2.5 + 1.2 + (1 << 26) / std::min(wgs * 10e3, 350e3)));
  }
  for (const int bytes : {1 << 12, 1 << 20, 1 << 28}) {
    lines.push_back(line("micro.ce_copy_one_peer", {{"bytes", bytes}}, 2.5 + 9 + bytes / 200e3));
  }
  for (const int in_flight : {1, 2, 4}) {  // 16 GiB, 455 ns and 65 ns more for each doubling
    lines.push_back(line("micro.chase",
                         {{"wgs", 33},
                          {"in_flight", in_flight},
                          {"steps", 1000},
                          {"row_bytes", 1024},
                          {"table_bytes", std::int64_t{1} << 34}},
                         3.7 + 1000 * (0.455 + 0.065 * std::log2(in_flight))));
  }
  GpuSpec ideal = base();
  ideal.l2.capacity = mebibytes(1);
  ideal.memory.bandwidth = gigabytes_per_second(100'000'000);
  ideal.memory.latency = picoseconds(1);
  ideal.memory.bend = 100;
  ideal.peer_store.wg_rate = gigabytes_per_second(1'000'000);
  ideal.dma.rate = gigabytes_per_second(1'000'000);
  ideal.gather.latency = picoseconds(1);
  const Fit fit = fit_machine(lines, ideal, kLink);
  EXPECT_NEAR(static_cast<double>(fit.gpu.memory.bandwidth.count()), 5e12, 5e9);
  EXPECT_NEAR(to_microseconds(fit.gpu.memory.latency), 0.5, 0.001);
  EXPECT_NEAR(fit.gpu.memory.bend, 3, 0.01);
  EXPECT_NEAR(static_cast<double>(fit.gpu.peer_store.wg_rate.count()), 10e9, 1e7);
  EXPECT_NEAR(static_cast<double>(fit.gpu.dma.rate.count()), 200e9, 1e8);
  EXPECT_NEAR(to_microseconds(fit.gpu.gather.latency), 0.455, 0.005);
  EXPECT_NEAR(to_microseconds(fit.gpu.gather.doubling), 0.065, 0.005);
}

// 1000 intervals: 100 CUs of 32 waves hold 8 WGs of 256 threads each where a wave has 64 lanes.
TEST(Fit, the_places_of_a_gpu_are_by_its_own_waves) {
  std::vector<MeasuredLine> lines = launch_lines();
  lines.push_back(line("micro.empty_kernel_full", {{"n", 101}}, 2.5 + (1.2 + 0.799) * 101));
  GpuSpec gpu = base();
  gpu.wave_size = 64;
  gpu.cu.waves = 32;
  EXPECT_EQ(fit_machine(lines, gpu, kLink).gpu.launch.wg_interval, nanoseconds(1));
}

// A search of two numbers that may ask five times takes the best that it has seen; two more
// calls are for their covariance.
TEST(LeastSquares, asks_no_more_often_than_it_may) {
  int calls = 0;
  const auto model = [&](const std::vector<double>& p) {
    ++calls;
    return std::vector<double>{p[0], p[0] * p[1], p[1]};
  };
  const Solution found = least_squares({9, 27, 3}, {1, 1}, model, {.step = 1e-4, .most_calls = 5});
  EXPECT_LE(calls, 5 + 2);
  EXPECT_EQ(found.parameters.size(), 2U);
}

TEST(Fit, what_no_line_determines_stays_and_is_named) {
  const Fit fit = fit_machine(launch_lines(), base(), kLink);
  EXPECT_EQ(fit.gpu.memory.bandwidth, base().memory.bandwidth);
  EXPECT_EQ(fit.link.latency, kLink.latency);
  EXPECT_EQ(fit.values.size(), 2U);
  for (const char* key : {"memory.bandwidth", "peer_store.wg_rate", "link.latency", "dma.rate"}) {
    EXPECT_TRUE(std::any_of(fit.kept.begin(), fit.kept.end(), [&](const std::string& kept) {
      return kept.find(key) != std::string::npos;
    })) << key;
  }
}

TEST(Fit, a_line_that_lacks_a_number_is_a_problem) {
  const Fit fit = fit_machine({line("micro.hbm_read", {{"wgs", 4}}, 100)}, base(), kLink);
  EXPECT_TRUE(fit.problems.has_errors());
}

}  // namespace
}  // namespace weft::fit_test
