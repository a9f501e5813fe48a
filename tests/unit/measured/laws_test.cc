// The simulator and the fits go by the same laws: lines whose times the simulator itself says give
// back the machine that it simulated, from a base that is another one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/gpu_model/gather_law.h"
#include "sim/gpu_model/memory_law.h"
#include "sim/gpu_model/peer_law.h"
#include "sim/measured/fit.h"
#include "sim/workloads/grid.h"
#include "tests/unit/engine/simulated.h"

namespace weft::laws_test {
namespace {

// Two GPUs of 100 CUs with 8 places each, under a switch.
const char* const kMachine = R"(
name: a machine
cluster:
  name: a machine
  nodes: 1
  gpus_per_node: 2
  gpu:
    base: gpus/ideal
    cus: 100
    cu: {wgs: 8}
    bf16_matrix: 800 TFLOP/s
    memory: {bandwidth: 5 TB/s, latency: 420 ns, doubling: 40 ns, bend: 3, write_cost: 1.5}
    l2: {capacity: 60 MiB, dies: 1, copies: 2, latency: 200 ns, bandwidth: 8 TB/s}
    gather: {latency: 500 ns, doubling: 60 ns, cached: 250 ns, unfairness: 0.03}
    launch: {queue: 1.2 us, clock: 2.5 us, ramp: 800 ns}
    peer_store: {wg_rate: 10 GB/s, fence: 400 ns, flag: 300 ns, fences: one_a_cu}
    dma: {engines: 1, rate: 200 GB/s, schedule: 6 us, next: 4 us, signal: 3 us}
  scale_up: {shape: switch, link: {bandwidth: 350 GB/s, latency: 400 ns}}
workload: {kind: collective, op: all_to_all, bytes: 2 MB}
)";
Scenario machine(const std::vector<std::string>& sets = {}) { return scenario_of(kMachine, sets); }

// Other numbers in everything that is fitted, so that no fit finds them by staying.
GpuSpec base(const Scenario& scenario) {
  GpuSpec gpu = scenario.cluster.gpu;
  gpu.memory = {.bandwidth = gigabytes_per_second(3000),
                .write_cost = 1,
                .latency = nanoseconds(700),
                .doubling = nanoseconds(15),
                .bend = 2,
                .capacity = gpu.memory.capacity,
                .side_cache = {}};
  gpu.l2.bandwidth = gigabytes_per_second(5000);
  gpu.gather = {.latency = nanoseconds(800),
                .doubling = nanoseconds(20),
                .cached = nanoseconds(400),
                .unfairness = 0.01};
  gpu.launch.queue = gpu.launch.clock = gpu.launch.ramp = microseconds(2);
  gpu.peer_store.wg_rate = gigabytes_per_second(5);
  gpu.peer_store.fence = nanoseconds(900);
  gpu.peer_store.fence_gap = nanoseconds(2);
  gpu.dma.rate = gigabytes_per_second(100);
  gpu.dma.next = microseconds(1);
  return gpu;
}

MeasuredLine line(const std::string& kind, std::map<std::string, std::int64_t> numbers, double us) {
  MeasuredLine one;
  one.kind = kind;
  one.us = us;
  one.numbers = std::move(numbers);
  return one;
}

// Microseconds that the simulator says of a row of n kernels of so many WGs, with the clock.
double simulated_us(const Scenario& scenario, const Work& work, std::size_t wgs, Duration launch,
                    int n = 1) {
  HandMade made;
  const std::uint32_t index = made.add(work);
  std::vector<KernelId> before;
  for (int i = 0; i < n; ++i) {
    Kernel kernel = plain(0);
    kernel.launch = launch;
    before = {made.kernel(kernel, std::vector<Item>(wgs, HandMade::item(index)), before)};
  }
  const SimTime end = run(scenario, made.graph).gpus[0].end;
  return to_microseconds(end - SimTime{} + scenario.cluster.gpu.launch.clock);
}
double work_us(const Scenario& scenario, const Work& work, std::int64_t wgs) {
  const LaunchSpec& launch = scenario.cluster.gpu.launch;
  return simulated_us(scenario, work, static_cast<std::size_t>(wgs),
                      compute_gap(launch, LaunchKind::queue));
}

std::vector<MeasuredLine> launch_lines(const Scenario& scenario) {
  const Duration queue = scenario.cluster.gpu.launch.queue;
  std::vector<MeasuredLine> lines;
  for (const int n : {1, 50}) {
    lines.push_back(
        line("micro.empty_kernel", {{"n", n}}, simulated_us(scenario, {}, 1, queue, n)));
  }
  return lines;
}

WgShape reader(int loads) {
  WgShape wg;
  wg.threads = 256;
  wg.loads_in_flight = loads;
  return wg;
}

// As many bytes a WG that it waits a whole number of times.
constexpr std::int64_t kOfAWg = 1 << 20U;

void add_reads(std::vector<MeasuredLine>& lines, const Scenario& scenario) {
  for (const std::int64_t wgs : {1, 20, 100, 200, 800}) {
    const Work work = copy_work(scenario.cluster.gpu, reader(4), kOfAWg, 0);
    lines.push_back(line("micro.hbm_read", {{"wgs", wgs}, {"bytes", wgs * kOfAWg}},
                         work_us(scenario, work, wgs)));
  }
  for (const std::int64_t wgs : {1, 50}) {
    for (const int loads : {1, 2, 4}) {
      const Work work = copy_work(scenario.cluster.gpu, reader(loads), kOfAWg, 0);
      lines.push_back(
          line("micro.wg_in_flight",
               {{"wgs", wgs}, {"threads", 256}, {"loads", loads}, {"bytes", wgs * kOfAWg}},
               work_us(scenario, work, wgs)));
    }
  }
}

void expect_near(Duration found, Duration truth, double part = 0.002) {
  EXPECT_NEAR(to_microseconds(found) / to_microseconds(truth), 1, part);
}
void expect_near(Bandwidth found, Bandwidth truth, double part = 0.002) {
  EXPECT_NEAR(static_cast<double>(found.count()) / static_cast<double>(truth.count()), 1, part);
}

TEST(LawsAndFits, agree_on_launches) {
  const Scenario scenario = machine({"cluster.gpu.launch.wg_interval=1 ns"});
  const GpuSpec& truth = scenario.cluster.gpu;
  std::vector<MeasuredLine> lines = launch_lines(scenario);
  lines.push_back(line("micro.empty_kernel_full", {{"n", 50}, {"wgs", 800}},
                       simulated_us(scenario, {}, 800, truth.launch.queue, 50)));
  GpuSpec other = base(scenario);
  other.launch.wg_interval = nanoseconds(3);
  const Fit fit = fit_machine(lines, other, {});
  expect_near(fit.gpu.launch.queue, truth.launch.queue);
  expect_near(fit.gpu.launch.clock, truth.launch.clock);
  expect_near(fit.gpu.launch.wg_interval, truth.launch.wg_interval);
}

TEST(LawsAndFits, agree_on_streams_and_copies) {
  const Scenario scenario = machine();
  const GpuSpec& truth = scenario.cluster.gpu;
  std::vector<MeasuredLine> lines = launch_lines(scenario);
  add_reads(lines, scenario);
  for (const std::int64_t wgs : {400, 800}) {
    Work work = copy_work(truth, reader(1), kOfAWg, 0);
    add_writes(work, truth, kOfAWg);
    lines.push_back(line("micro.hbm_copy", {{"wgs", wgs}, {"bytes", wgs * kOfAWg}},
                         work_us(scenario, work, wgs)));
  }
  GpuSpec other = base(scenario);
  other.launch.ramp = truth.launch.ramp;  // of chases, which are not among the lines
  const Fit fit = fit_machine(lines, other, {});
  expect_near(fit.gpu.memory.bandwidth, truth.memory.bandwidth);
  expect_near(fit.gpu.memory.latency, truth.memory.latency);
  expect_near(fit.gpu.memory.doubling, truth.memory.doubling, 0.01);
  EXPECT_NEAR(fit.gpu.memory.bend, truth.memory.bend, 0.01);
  EXPECT_NEAR(fit.gpu.memory.write_cost, truth.memory.write_cost, 0.003);
}

TEST(LawsAndFits, agree_on_an_l2_that_all_share) {
  const Scenario scenario = machine();
  const GpuSpec& truth = scenario.cluster.gpu;
  std::vector<MeasuredLine> lines = launch_lines(scenario);
  for (const std::int64_t wgs : {400, 800}) {
    Work work;
    const Duration alone = truth.l2.latency * waits_for(kOfAWg, reader(4));
    work.memory_alone = shared_l2_time(truth, alone, kOfAWg, wgs, 800);
    lines.push_back(line("micro.l2_read",
                         {{"wgs", wgs}, {"buffer_bytes", 16 << 20U}, {"bytes", wgs * kOfAWg}},
                         work_us(scenario, work, wgs)));
  }
  GpuSpec other = base(scenario);
  other.launch.ramp = truth.launch.ramp;
  other.memory.bend = truth.memory.bend;
  expect_near(fit_machine(lines, other, {}).gpu.l2.bandwidth, truth.l2.bandwidth);
}

// Each step of a row that is found nowhere asks the memory for 4 KiB a WG.
TEST(LawsAndFits, agree_on_rows_at_random_places) {
  const Scenario scenario = machine();
  const GpuSpec& truth = scenario.cluster.gpu;
  std::vector<MeasuredLine> lines = launch_lines(scenario);
  add_reads(lines, scenario);
  const auto chase = [&](std::int64_t mebi, std::int64_t wgs, std::int64_t rows,
                         std::int64_t steps) {
    const bool near = mebi < 60;
    const Duration step = gather_latency(truth, static_cast<double>(rows),
                                         near ? RowsFound{.in_l2 = 1} : RowsFound{});
    const std::int64_t asked = near ? 0 : rows * 256 * kLoadBytes;
    Work work;
    work.memory_alone = step * steps;
    work.traffic = bytes(asked * steps);
    const double demand = memory_demand(truth, static_cast<double>(asked * wgs), step);
    lines.push_back(line("micro.chase",
                         {{"row_bytes", 1024},
                          {"table_bytes", mebi << 20U},
                          {"wgs", wgs},
                          {"in_flight", rows},
                          {"steps", steps},
                          {"spread_ppm", std::llround(unevenness(truth, demand) * 1e6)}},
                         work_us(scenario, work, wgs)));
  };
  for (const int steps : {16, 256, 1024}) chase(2, 100, 1, steps);
  for (const int wgs : {25, 100, 600}) {
    chase(16, wgs, 1, 1024);
    for (const int rows : {1, 2, 4}) chase(4096, wgs, rows, 1024);
  }
  const Fit fit = fit_machine(lines, base(scenario), {});
  expect_near(fit.gpu.launch.ramp, truth.launch.ramp, 0.005);
  expect_near(fit.gpu.gather.cached, truth.gather.cached);
  expect_near(fit.gpu.gather.latency, truth.gather.latency);
  expect_near(fit.gpu.gather.doubling, truth.gather.doubling, 0.01);
  EXPECT_NEAR(fit.gpu.gather.unfairness, truth.gather.unfairness, 2e-4);
}

// WGs on CUs of their own that store a slice, fence and set a flag, turn after turn.
double turns_us(const Scenario& scenario, std::uint32_t wgs, std::uint32_t turns,
                std::uint32_t slice) {
  HandMade made;
  const LatchId told = made.graph.add_latch(wgs * turns);
  const std::uint32_t nothing = made.takes({});
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < wgs * turns; ++i) {
    items.push_back(HandMade::item(nothing, made.sends({.to = 1, .size = slice, .arrives = told})));
  }
  Kernel kernel = persistent(0, wgs, WorkList::static_list);
  kernel.launch = scenario.cluster.gpu.launch.queue;
  kernel.fenced = true;
  kernel.store_rate = scenario.cluster.gpu.peer_store.wg_rate;
  made.kernel(kernel, items);
  Kernel receiver = persistent(1, 1);
  receiver.finish = told;
  made.kernel(receiver, {HandMade::item(nothing)});
  const SimTime end = run(scenario, made.graph).gpus[0].end;
  return to_microseconds(end - SimTime{} + scenario.cluster.gpu.launch.clock);
}

// A turn is 1.3 us: 100 WGs wait for one another where their fences end 20 ns apart, 2 us for all.
TEST(LawsAndFits, agree_on_fences_and_flags) {
  const Scenario scenario = machine({"cluster.gpu.peer_store.fence_gap=20 ns"});
  const GpuSpec& truth = scenario.cluster.gpu;
  const LinkSpec link = scenario.cluster.scale_up->link;
  std::vector<MeasuredLine> lines = launch_lines(scenario);
  for (const std::uint32_t wgs : {1U, 16U, 100U}) {
    lines.push_back(line("micro.store_fence_flag",
                         {{"wgs", wgs}, {"slice_bytes", 1024}, {"slices_per_wg", 32}},
                         turns_us(scenario, wgs, 32, 1024)));
  }
  lines.push_back(line("micro.flag_one_way", {{"n", 1}},
                       to_microseconds(flag_time(truth.peer_store, link.latency * 2))));
  GpuSpec other = base(scenario);
  other.peer_store.wg_rate = truth.peer_store.wg_rate;
  const Fit fit =
      fit_machine(lines, other, {.bandwidth = link.bandwidth, .latency = nanoseconds(900)});
  expect_near(fit.link.latency, link.latency);
  expect_near(fit.gpu.peer_store.fence, truth.peer_store.fence, 0.01);
  expect_near(fit.gpu.peer_store.fence_gap, truth.peer_store.fence_gap, 0.005);
}

}  // namespace
}  // namespace weft::laws_test
