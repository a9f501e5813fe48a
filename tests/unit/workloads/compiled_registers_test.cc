// Registers of a fused kernel: fewer WGs on a CU, or spilled.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/gpu_model/memory_law.h"
#include "sim/workloads/grid.h"
#include "tests/unit/engine/simulated.h"

namespace weft::compiled_registers_test {
namespace {

// CUs of 65,536 registers.
Scenario scenario_with(int threads, int registers, std::vector<std::string> sets = {}) {
  sets.push_back("workload.gemm.wg={threads: " + std::to_string(threads) +
                 ", registers_per_thread: " + std::to_string(registers) + ", lds: 0 B}");
  return scenario_of(R"(
name: registers
cluster: {base: clusters/node_8x_h100, gpus_per_node: 4}
workload:
  kind: gemm_reduce_scatter
  gemm: {m: 8192, n: 4096, k: 4096}
)",
                     sets);
}

Compiled compiled_of(const Scenario& scenario) {
  return compiled(scenario.cluster.gpu, scenario.workload.gemm.wg, fused_version(scenario.fused));
}
int resident_of(const Scenario& scenario) {
  return resident(scenario.cluster.gpu, scenario.workload.gemm.wg, fused_version(scenario.fused));
}

TEST(CompiledRegisters, are_capped_where_else_half_of_the_wgs_were_lost) {
  // 65,536 / (256 x 128) = 2, with 136 registers 1: capped at 65,536 / (2 x 256) = 128, 8 spilled.
  const Scenario half = scenario_with(256, 128);
  EXPECT_EQ(compiled_of(half).registers, 128);
  EXPECT_EQ(compiled_of(half).spilled, 8);
  EXPECT_EQ(resident_of(half), 2);
  // 100 + 8 still fit twice, and 120 + 12 leave room for 128 of them.
  EXPECT_EQ(compiled_of(scenario_with(256, 100)).spilled, 0);
  EXPECT_EQ(compiled_of(scenario_with(256, 120, {"fused.extra_registers_per_thread=12"})).spilled,
            4);
}

TEST(CompiledRegisters, cost_wgs_where_fewer_are_lost) {
  // 4 of 64 registers, 3 of 72.
  const Scenario quarter = scenario_with(256, 64);
  EXPECT_EQ(compiled_of(quarter).registers, 72);
  EXPECT_EQ(compiled_of(quarter).spilled, 0);
  EXPECT_EQ(resident_of(quarter), 3);
}

TEST(CompiledRegisters, are_as_the_scenario_says) {
  EXPECT_EQ(resident_of(scenario_with(256, 128, {"fused.registers=all"})), 1);
  const Scenario capped = scenario_with(256, 64, {"fused.registers=capped"});
  EXPECT_EQ(resident_of(capped), 4);
  EXPECT_EQ(compiled_of(capped).spilled, 8);
}

TEST(CompiledRegisters, that_are_spilled_are_loaded_once_from_the_l2) {
  // 8 x 4 B x 256 threads = 8 KiB; 256 threads have 4 loads of 16 B in flight, 16 KiB: one wait.
  GpuSpec gpu;
  gpu.l2.latency = nanoseconds(200);
  const WgShape wg{.threads = 256, .registers_per_thread = 128, .lds = {}, .loads_in_flight = 4};
  EXPECT_EQ(spill_time(gpu, wg, 0), Duration{});
  EXPECT_EQ(spill_time(gpu, wg, 8), nanoseconds(200));
  EXPECT_EQ(spill_time(gpu, wg, 17), nanoseconds(400));
}

double fused_over_bulk(const Scenario& scenario) {
  return to_microseconds(run(scenario, Mode::bulk).time) /
         to_microseconds(run(scenario, Mode::fused).time);
}

TEST(CompiledRegisters, hardly_change_what_fusing_brings) {
  const double without =
      fused_over_bulk(scenario_with(256, 128, {"fused.extra_registers_per_thread=0"}));
  EXPECT_NEAR(fused_over_bulk(scenario_with(256, 128)), without, 0.01 * without);
  EXPECT_LT(fused_over_bulk(scenario_with(256, 128, {"fused.registers=all"})), 0.98 * without);
}

}  // namespace
}  // namespace weft::compiled_registers_test
