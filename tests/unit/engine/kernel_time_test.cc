// How long a kernel takes: its WGs, their places, and what they share.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::kernel_time_test {
namespace {

constexpr double kBend = 2.6;

// Slow-down of jobs that together ask for x times the bandwidth (sim/core/shared_server.h).
double slowed(double x) { return std::pow(1.0 + std::pow(x, kBend), -1.0 / kBend); }

// The table of the bend has 1024 steps, interpolated: right to 3 parts in a million.
constexpr double kTable = 1e-5;

Scenario one_tb_per_second(const std::vector<std::string>& more = {}) {
  std::vector<std::string> sets{"cluster.gpu.memory.bandwidth=1 TB/s",
                                "cluster.gpu.memory.bend=2.6"};
  sets.insert(sets.end(), more.begin(), more.end());
  return one_node(sets);
}

// 1 MB in 10 us: a tenth of 1 TB/s.
Work tenth_of_the_memory() {
  Work work;
  work.traffic = bytes(1'000'000);
  work.memory_alone = microseconds(10);
  return work;
}

RunResult run_wgs(const Scenario& scenario, const Work& work, std::size_t wgs, Kernel kernel) {
  HandMade made;
  const std::uint32_t index = made.add(work);
  made.kernel(kernel, std::vector<Item>(wgs, HandMade::item(index)));
  return run(scenario, made.graph);
}

TEST(KernelTime, one_wg_takes_what_its_own_loads_allow) {
  // x = 0.1: 10 us / g(0.1) = 10.0097 us: a tenth of the load is hardly felt.
  const RunResult result = run_wgs(one_tb_per_second(), tenth_of_the_memory(), 1, plain(0));
  EXPECT_NEAR(to_microseconds(result.time), 10 / slowed(0.1), 10 * kTable);
}

TEST(KernelTime, one_wg_on_a_memory_with_a_sharp_corner_takes_exactly_its_own_time) {
  const RunResult result = run_wgs(one_node({"cluster.gpu.memory.bandwidth=1 TB/s"}),
                                   tenth_of_the_memory(), 1, plain(0));
  EXPECT_EQ(result.time, microseconds(10));
}

TEST(KernelTime, a_full_wave_shares_the_memory) {
  // 4 places: x = 0.4, all WGs end at 10 us / g(0.4).
  const RunResult result = run_wgs(one_tb_per_second(), tenth_of_the_memory(), 4, plain(0));
  EXPECT_NEAR(to_microseconds(result.time), 10 / slowed(0.4), 10 * kTable);
}

TEST(KernelTime, two_and_a_half_waves_take_three) {
  // 10 WGs in 4 places, too few to load the memory: 4, 4, then 2. The tail is real.
  const Scenario scenario = one_node();
  const Kernel plain_kernel = plain(0);
  EXPECT_EQ(run_wgs(scenario, tenth_of_the_memory(), 10, plain_kernel).time, microseconds(30));
  // A persistent grid of the 4 places takes the same items in the same steps.
  EXPECT_EQ(run_wgs(scenario, tenth_of_the_memory(), 10, persistent(0, 4)).time, microseconds(30));
}

TEST(KernelTime, a_saturated_memory_delivers_its_bandwidth_but_for_the_bend) {
  // 40 places, 400 WGs of 1 MB, x = 4: bytes / bandwidth = 400 us, over x g(x) = 0.9897.
  const Scenario scenario = one_tb_per_second({"cluster.gpu.cus=2", "cluster.gpu.cu.wgs=20"});
  const RunResult result = run_wgs(scenario, tenth_of_the_memory(), 400, plain(0));
  EXPECT_GT(result.time, microseconds(400));
  EXPECT_NEAR(to_microseconds(result.time), 400 / (4 * slowed(4)), 400 * kTable);
  EXPECT_EQ(result.gpus[0].hbm, bytes(400'000'000));
}

TEST(KernelTime, is_tight) {
  // Not done a picosecond earlier.
  Scenario scenario = one_node({"cluster.gpu.memory.bandwidth=1 TB/s"});
  scenario.run.max_time = microseconds(10);
  EXPECT_EQ(run_wgs(scenario, tenth_of_the_memory(), 1, plain(0)).ending, Ending::finished);
  scenario.run.max_time = microseconds(10) - picoseconds(1);
  EXPECT_EQ(run_wgs(scenario, tenth_of_the_memory(), 1, plain(0)).ending, Ending::time_limit);
}

TEST(KernelTime, a_wg_of_double_work_takes_twice_as_long) {
  HandMade made;
  Item item = HandMade::item(made.add(tenth_of_the_memory()));
  item.scale = 2 * Item::kUnit;
  made.kernel(plain(0), {item});
  const RunResult result = run(one_node(), made.graph);
  EXPECT_EQ(result.time, microseconds(20));
  EXPECT_EQ(result.gpus[0].hbm, bytes(2'000'000));
}

// 10^6 operations a WG on a CU of 1 TFLOP/s, of which the WG can use a part.
Work arithmetic(std::uint32_t share) {
  Work work;
  work.flops = flops(1'000'000);
  work.arithmetic_share = share;
  work.arithmetic_alone = picoseconds(1'000'000LL * 1000 / share);
  return work;
}

TEST(KernelTime, a_wg_of_one_wave_gets_a_quarter_of_its_cu) {
  // 10^6 FLOP / 0.25 TFLOP/s = 4 us.
  EXPECT_EQ(run_wgs(one_node(), arithmetic(250), 1, plain(0)).time, microseconds(4));
}

TEST(KernelTime, more_waves_than_units_share_the_cu) {
  // 8 such WGs on one CU ask for twice of it: 8 x 10^6 FLOP / 1 TFLOP/s = 8 us, exactly.
  const Scenario scenario = one_node({"cluster.gpu.cus=1", "cluster.gpu.cu.wgs=8"});
  EXPECT_EQ(run_wgs(scenario, arithmetic(250), 8, plain(0)).time, microseconds(8));
}

TEST(KernelTime, arithmetic_is_not_shared_between_cus) {
  // One WG on each of two CUs: as one alone.
  EXPECT_EQ(run_wgs(one_node(), arithmetic(250), 2, plain(0)).time, microseconds(4));
}

TEST(KernelTime, a_compute_bound_kernel_takes_its_flops_over_the_rate_of_all_cus) {
  // 40 WGs of 10^6 FLOP on 2 CUs of 1 TFLOP/s: 20 us. Each WG alone asks for its whole CU, two
  // share it; at exactly full load the corner costs up to 2^(1/1024) - 1 = 0.07 %.
  const RunResult result = run_wgs(one_node(), arithmetic(1000), 40, plain(0));
  EXPECT_GE(result.time, microseconds(20));
  EXPECT_LE(to_microseconds(result.time), 20 * 1.0007);
  EXPECT_EQ(result.ledger.flops.done, 40'000'000);
}

TEST(KernelTime, the_longer_of_arithmetic_and_memory_decides) {
  Work work = arithmetic(250);  // 4 us
  work.traffic = bytes(1'000'000);
  work.memory_alone = microseconds(10);
  EXPECT_EQ(run_wgs(one_node(), work, 1, plain(0)).time, microseconds(10));
  work.memory_alone = microseconds(3);
  EXPECT_EQ(run_wgs(one_node(), work, 1, plain(0)).time, microseconds(4));
}

TEST(KernelTime, the_dispatcher_starts_one_wg_per_interval) {
  // 4 WGs of 10 us, one a microsecond: the last starts at 3 us.
  HandMade made;
  const std::uint32_t work = made.takes(microseconds(10));
  made.kernel(plain(0), std::vector<Item>(4, HandMade::item(work)));
  const RunResult result = run(one_node({"cluster.gpu.launch.wg_interval=1 us"}), made.graph);
  EXPECT_EQ(result.time, microseconds(13));
}

TEST(KernelTime, the_dispatcher_is_felt_again_by_wgs_that_take_a_freed_place) {
  // 4 places. Starts at 0, 1, 2, 3 us; the first place is free at 10 us, the fifth WG starts there
  // at once, for the dispatcher has nothing else to do: 20 us.
  HandMade made;
  const std::uint32_t work = made.takes(microseconds(10));
  made.kernel(plain(0), std::vector<Item>(5, HandMade::item(work)));
  const RunResult result = run(one_node({"cluster.gpu.launch.wg_interval=1 us"}), made.graph);
  EXPECT_EQ(result.time, microseconds(20));
}

TEST(KernelTime, a_kernel_behind_one_that_fills_the_chip_gets_nothing_until_wgs_retire) {
  // Two streams: 4 WGs of 10 us fill the 4 places, the second kernel's WG of 1 us starts at 10 us.
  HandMade made;
  const std::uint32_t long_work = made.takes(microseconds(10));
  const std::uint32_t short_work = made.takes(microseconds(1));
  made.kernel(plain(0), std::vector<Item>(4, HandMade::item(long_work)));
  made.kernel(plain(0), {HandMade::item(short_work)});
  EXPECT_EQ(run(one_node(), made.graph).time, microseconds(11));
}

}  // namespace
}  // namespace weft::kernel_time_test
