// Fits of what loads, rows and fences wait for: lines made of known numbers give these back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/measured/fit.h"

namespace weft::fit_waits_test {
namespace {

// Other numbers than those that the lines are made of, so that no fit finds them by staying.
GpuSpec base() {
  GpuSpec gpu;
  gpu.cus = 100;
  gpu.wave_size = 32;
  gpu.cu.waves = 64;
  gpu.memory.bandwidth = gigabytes_per_second(4000);
  gpu.memory.latency = nanoseconds(600);
  gpu.memory.doubling = nanoseconds(10);
  gpu.memory.bend = 2;
  gpu.l2 = {.capacity = mebibytes(60),
            .dies = 1,
            .copies = 2,
            .latency = nanoseconds(200),
            .bandwidth = gigabytes_per_second(6000)};
  gpu.gather = {.latency = nanoseconds(700),
                .doubling = nanoseconds(20),
                .cached = nanoseconds(400),
                .unfairness = 0.01};
  gpu.launch.queue = microseconds(2);
  return gpu;
}
const LinkSpec kLink = {.bandwidth = gigabytes_per_second(300), .latency = nanoseconds(500)};

MeasuredLine line(const std::string& kind, std::map<std::string, std::int64_t> numbers, double us) {
  MeasuredLine one;
  one.kind = kind;
  one.us = us;
  one.numbers = std::move(numbers);
  return one;
}

// A row of n kernels takes 2.5 + 1.2 n us: 3.7 us of one are around what it does.
constexpr double kAround = 3.7;
std::vector<MeasuredLine> launch_lines() {
  return {line("micro.empty_kernel", {{"n", 1}}, 2.5 + 1.2),
          line("micro.empty_kernel", {{"n", 101}}, 2.5 + 1.2 * 101)};
}

// How much longer everything takes that asks for `demand` of 5 TB/s, with a bend of 3.
double longer(double demand) { return std::pow(1 + std::pow(demand / 5e6, 3), 1.0 / 3); }

// 5 TB/s, a bend of 3, 420 ns and 40 more for each doubling: 500 of four loads. A WG reads 4 KiB
// with each load of its threads.
double read_us(int wgs, int loads, int bytes) {
  const double demand = wgs * loads * 4096 / (0.42 + 0.04 * std::log2(loads));  // B/us
  return kAround + bytes / demand * longer(demand);
}
std::vector<MeasuredLine> stream_lines() {
  std::vector<MeasuredLine> lines = launch_lines();
  for (const int wgs : {1, 20, 100, 200, 800}) {
    lines.push_back(
        line("micro.hbm_read", {{"wgs", wgs}, {"bytes", 1 << 28}}, read_us(wgs, 4, 1 << 28)));
  }
  return lines;
}

bool is_kept(const Fit& fit, const std::string& key) {
  return std::any_of(fit.kept.begin(), fit.kept.end(),
                     [&](const std::string& kept) { return kept.find(key) != std::string::npos; });
}

TEST(FitWaits, of_several_loads) {
  std::vector<MeasuredLine> lines = stream_lines();
  for (const int wgs : {1, 100}) {
    for (const int loads : {1, 2, 4}) {
      lines.push_back(line("micro.wg_in_flight",
                           {{"wgs", wgs}, {"threads", 256}, {"loads", loads}, {"bytes", 1 << 26}},
                           read_us(wgs, loads, 1 << 26)));
    }
  }
  // Held up by its CU, not by what it waits for: not asked.
  lines.push_back(line("micro.wg_in_flight",
                       {{"wgs", 1}, {"threads", 1024}, {"loads", 4}, {"bytes", 1 << 26}}, 900));
  const Fit fit = fit_machine(lines, base(), kLink);
  EXPECT_NEAR(to_microseconds(fit.gpu.memory.doubling), 0.04, 0.0005);
  EXPECT_NEAR(to_microseconds(fit.gpu.memory.latency), 0.42, 0.001);
  EXPECT_TRUE(is_kept(fit_machine(stream_lines(), base(), kLink), "memory.doubling"));
}

// Of a copy 1 load is in flight (the lines before say 420 ns, with doublings of 40). A written byte
// is as much work as 1.5 read: 800 WGs ask for 2.5 x 800 x 4096 B / 420 ns = 19.5 TB/s.
TEST(FitWaits, writes_take_of_the_bandwidth) {
  GpuSpec gpu = base();
  gpu.memory.doubling = nanoseconds(40);
  std::vector<MeasuredLine> lines = stream_lines();
  for (const int wgs : {400, 800}) {
    const double reads = wgs * 4096 / 0.42;
    lines.push_back(line("micro.hbm_copy", {{"wgs", wgs}, {"bytes", 1 << 28}},
                         kAround + (1 << 28) / reads * longer(2.5 * reads)));
  }
  // Few WGs wait for their loads: they say nothing of writes.
  lines.push_back(line("micro.hbm_copy", {{"wgs", 1}, {"bytes", 1 << 26}}, 30'000));
  const Fit fit = fit_machine(lines, gpu, kLink);
  EXPECT_NEAR(fit.gpu.memory.write_cost, 1.5, 0.01);
  EXPECT_TRUE(is_kept(fit_machine(stream_lines(), gpu, kLink), "memory.write_cost"));
}

// 8 TB/s of the L2: 800 WGs with 16 KiB each in flight and 200 ns ask for 65.5 TB/s.
TEST(FitWaits, the_bandwidth_of_the_l2) {
  GpuSpec gpu = base();
  gpu.memory.bend = 3;
  const auto l2_read = [](int wgs, int mebi, double us) {
    return line("micro.l2_read", {{"wgs", wgs}, {"buffer_bytes", mebi << 20}, {"bytes", 1 << 30}},
                us);
  };
  std::vector<MeasuredLine> lines = launch_lines();
  const double demand = 800 * 16384 / 0.2;
  const double us = kAround + (1 << 30) / demand * std::pow(1 + std::pow(demand / 8e6, 3), 1.0 / 3);
  lines.push_back(l2_read(800, 4, us));
  lines.push_back(l2_read(800, 16, us));
  lines.push_back(l2_read(800, 40, 2 * us));  // two copies of it do not fit 60 MiB
  lines.push_back(l2_read(1, 16, 10'000));    // one WG waits for its loads
  const Fit fit = fit_machine(lines, gpu, kLink);
  EXPECT_NEAR(static_cast<double>(fit.gpu.l2.bandwidth.count()), 8e12, 1e10);
  EXPECT_TRUE(is_kept(fit_machine(launch_lines(), gpu, kLink), "l2.bandwidth"));
}

// A kernel of n steps takes 0.8 us more than an empty one. A step of rows in the L2 takes 250 ns;
// of rows of the memory 500 ns, and 60 more for each doubling; CUs drift apart by 0.03 of what is
// asked for beyond 1.6 times the bandwidth.
std::vector<MeasuredLine> chase_lines() {
  std::vector<MeasuredLine> lines = stream_lines();
  for (MeasuredLine& one : lines) one.us += one.kind == "micro.hbm_read" ? 0.8 : 0;
  const auto add = [&](std::int64_t mebi, int wgs, int in_flight, int steps, double step) {
    const double demand = mebi < 60 ? 0 : wgs * in_flight * 4096 / step;
    const double spread = std::max(0.0, 0.03 * (demand / 5e6 - 1.6));
    lines.push_back(line("micro.chase",
                         {{"row_bytes", 1024},
                          {"table_bytes", mebi << 20U},
                          {"wgs", wgs},
                          {"in_flight", in_flight},
                          {"steps", steps},
                          {"spread_ppm", std::llround(spread * 1e6)}},
                         kAround + 0.8 + steps * step * longer(demand)));
  };
  for (const int steps : {16, 256, 1024}) add(2, 100, 1, steps, 0.25);
  for (const int wgs : {25, 100, 600}) {
    add(16, wgs, 1, 1024, 0.25);
    for (const int n : {1, 2, 4}) add(4096, wgs, n, 1024, 0.5 + 0.06 * std::log2(n));
  }
  return lines;
}

TEST(FitWaits, random_rows) {
  const Fit fit = fit_machine(chase_lines(), base(), kLink);
  EXPECT_NEAR(to_microseconds(fit.gpu.launch.ramp), 0.8, 0.01);
  EXPECT_NEAR(to_microseconds(fit.gpu.gather.cached), 0.25, 0.001);
  EXPECT_NEAR(to_microseconds(fit.gpu.gather.latency), 0.5, 0.005);
  EXPECT_NEAR(to_microseconds(fit.gpu.gather.doubling), 0.06, 0.003);
  EXPECT_NEAR(fit.gpu.gather.unfairness, 0.03, 0.001);
}

// Places known before are loaded ahead: such lines do not say what a step waits for.
TEST(FitWaits, gathers_of_known_places_determine_no_row) {
  std::vector<MeasuredLine> lines = launch_lines();
  lines.push_back(line("micro.gather",
                       {{"row_bytes", 1024}, {"table_bytes", 1 << 30}, {"wgs", 1}, {"rows", 4096}},
                       100));
  const Fit fit = fit_machine(lines, base(), kLink);
  for (const char* key :
       {"gather.latency", "gather.doubling", "gather.cached", "gather.unfairness", "launch.ramp"}) {
    EXPECT_TRUE(is_kept(fit, key)) << key;
  }
  EXPECT_EQ(fit.gpu.gather.latency, base().gather.latency);
}

// A turn of 1.5 us, the fences of 100 CUs 24 ns apart, while 1 KiB takes 4 ns of a link of 256
// GB/s: 2.4 us a turn. 20 CUs leave the place free.
TEST(FitWaits, fences_of_many_cus) {
  const auto turns = [](int wgs, double us) {
    return line("micro.store_fence_flag",
                {{"wgs", wgs}, {"slice_bytes", 1024}, {"slices_per_wg", 32}}, kAround + us);
  };
  std::vector<MeasuredLine> lines = launch_lines();
  lines.push_back(turns(1, 32 * 1.5));
  EXPECT_TRUE(is_kept(fit_machine(lines, base(), kLink), "fence_gap"));
  lines.push_back(turns(20, 32 * 1.5 + 19 * 0.024));
  lines.push_back(turns(100, 1.5 + (32 * 100 - 1) * 0.024));
  lines.push_back(turns(400, 1000));  // four a CU share its fences
  const LinkSpec link = {.bandwidth = gigabytes_per_second(256), .latency = nanoseconds(500)};
  const Fit fit = fit_machine(lines, base(), link);
  EXPECT_NEAR(to_microseconds(fit.gpu.peer_store.fence_gap), 0.024, 0.0002);
}

// On a link of 25.6 GB/s 1 KiB takes 40 ns: 100 CUs wait for that, whatever is apart below it.
TEST(FitWaits, fences_that_the_link_holds_apart_determine_no_gap) {
  const auto turns = [](int wgs, double us) {
    return line("micro.store_fence_flag",
                {{"wgs", wgs}, {"slice_bytes", 1024}, {"slices_per_wg", 32}}, kAround + us);
  };
  std::vector<MeasuredLine> lines = launch_lines();
  lines.push_back(turns(1, 32 * 1.5));
  lines.push_back(turns(100, 1.5 + (32 * 100 - 1) * 0.040));
  const LinkSpec link = {.bandwidth = bytes_per_second(25'600'000'000),
                         .latency = nanoseconds(500)};
  const Fit fit = fit_machine(lines, base(), link);
  EXPECT_TRUE(is_kept(fit, "fence_gap"));
  EXPECT_EQ(fit.gpu.peer_store.fence_gap, base().peer_store.fence_gap);
}

}  // namespace
}  // namespace weft::fit_waits_test
