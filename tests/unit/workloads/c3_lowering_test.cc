// What each strategy of kind c3 asks for: who is launched first, on which CUs, with which priority.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/scenario/modes.h"
#include "sim/workloads/c3.h"
#include "tests/unit/engine/simulated.h"

namespace weft::c3_lowering_test {
namespace {

Scenario toy(const std::vector<std::string>& sets = {}) {
  return scenario_of(R"(
name: GEMM concurrent with an all-gather
cluster:
  name: four GPUs
  nodes: 1
  gpus_per_node: 4
  gpu:
    base: gpus/ideal
    cus: 32
    cu: {wgs: 2}
    launch: {mask_step: 4}
    collective: {channels: 12}
  scale_up: {shape: switch, link: {bandwidth: 50 GB/s, latency: 500 ns}}
workload:
  kind: c3
  gemm: {m: 1024, n: 1024, k: 1024}
  communication: {op: all_gather, bytes: 4 MB}
c3: {partition_cus: 4, dma_reserve_cus: 8}
)",
                     sets);
}

// A GPU's kernels of both kinds in the order of their launch.
std::vector<Kernel> kernels_of(const Scenario& scenario, Mode mode, std::uint32_t gpu = 0) {
  const TaskGraph graph = lower(scenario, build_cluster(scenario.cluster), mode);
  std::vector<Kernel> kernels;
  for (const Kernel& kernel : graph.kernels) {
    if (kernel.gpu.value == gpu) kernels.push_back(kernel);
  }
  return kernels;
}

TEST(C3Lowering, every_gpu_has_both_kernels_and_neither_waits_for_the_other) {
  for (std::uint32_t gpu = 0; gpu < 4; ++gpu) {
    const std::vector<Kernel> kernels = kernels_of(toy(), Mode::base, gpu);
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(kernels[0].role, KernelRole::compute);
    EXPECT_EQ(kernels[1].role, KernelRole::collective);
    EXPECT_EQ(kernels[0].items, 64U);  // tiles of 128 x 128
    for (const Kernel& kernel : kernels) {
      EXPECT_EQ(kernel.dependencies, 0U);
      EXPECT_EQ(kernel.priority, 0);
      EXPECT_EQ(cus_in(kernel.cus, 32), 32);
    }
  }
}

TEST(C3Lowering, serial_starts_the_collective_after_the_gemm) {
  const std::vector<Kernel> kernels = kernels_of(toy(), Mode::serial);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].dependencies, 0U);
  EXPECT_EQ(kernels[1].dependencies, 1U);
}

TEST(C3Lowering, isolated_runs_have_one_kernel) {
  ASSERT_EQ(kernels_of(toy(), Mode::compute_alone).size(), 1U);
  ASSERT_EQ(kernels_of(toy(), Mode::comm_alone).size(), 1U);
  ASSERT_EQ(kernels_of(toy(), Mode::comm_alone_dma).size(), 1U);
  EXPECT_EQ(kernels_of(toy(), Mode::compute_alone)[0].role, KernelRole::compute);
  EXPECT_EQ(kernels_of(toy(), Mode::comm_alone)[0].executor, Executor::cu);
  EXPECT_EQ(kernels_of(toy(), Mode::comm_alone_dma)[0].executor, Executor::dma);
}

TEST(C3Lowering, comm_first_launches_the_collective_first_and_with_priority) {
  for (const Mode mode : {Mode::comm_first, Mode::priority_partition}) {
    const std::vector<Kernel> kernels = kernels_of(toy(), mode);
    EXPECT_EQ(kernels[0].role, KernelRole::collective) << name_of(mode);
    EXPECT_EQ(kernels[0].priority, 1) << name_of(mode);
    EXPECT_EQ(kernels[1].priority, 0) << name_of(mode);
  }
}

TEST(C3Lowering, priority_launches_the_collective_second) {
  const std::vector<Kernel> kernels = kernels_of(toy(), Mode::priority);
  EXPECT_EQ(kernels[0].role, KernelRole::compute);
  EXPECT_EQ(kernels[0].priority, 0);
  EXPECT_EQ(kernels[1].priority, 1);
}

TEST(C3Lowering, the_kernel_launched_second_comes_a_gap_later) {
  const std::vector<std::string> gap{"cluster.gpu.launch.queue=2 us", "run.launch=queue"};
  for (const Mode mode : {Mode::base, Mode::priority, Mode::comm_first}) {
    const std::vector<Kernel> kernels = kernels_of(toy(gap), mode);
    EXPECT_EQ(kernels[0].launch, microseconds(2)) << name_of(mode);
    EXPECT_EQ(kernels[1].launch, microseconds(4)) << name_of(mode);
  }
  for (const Mode mode : {Mode::compute_alone, Mode::comm_alone}) {
    EXPECT_EQ(kernels_of(toy(gap), mode)[0].launch, microseconds(2)) << name_of(mode);
  }
}

// 12 channels against 64 tiles, or against 4.
TEST(C3Lowering, launch_order_compares_the_wgs_that_each_kernel_starts) {
  EXPECT_EQ(kernels_of(toy(), Mode::launch_order)[0].role, KernelRole::collective);
  const std::vector<std::string> few{"workload.gemm.m=256", "workload.gemm.n=256"};
  EXPECT_EQ(kernels_of(toy(few), Mode::launch_order)[0].role, KernelRole::compute);
}

// 4 CUs of two places each: 8 of the 12 channels.
TEST(C3Lowering, a_mask_gives_the_collective_the_first_cus_and_the_gemm_the_others) {
  for (const Mode mode : {Mode::partition, Mode::lookup, Mode::best, Mode::priority_partition}) {
    for (const Kernel& kernel : kernels_of(toy(), mode)) {
      const bool collective = kernel.role == KernelRole::collective;
      EXPECT_EQ(kernel.cus.contains(0), collective) << name_of(mode);
      EXPECT_EQ(kernel.cus.contains(3), collective) << name_of(mode);
      EXPECT_EQ(kernel.cus.contains(4), !collective) << name_of(mode);
      EXPECT_EQ(kernel.cus.contains(31), !collective) << name_of(mode);
      if (!collective) continue;
      EXPECT_EQ(kernel.max_grid, 8U) << name_of(mode);
    }
  }
}

TEST(C3Lowering, a_partition_by_channels_masks_nothing_and_launches_the_collective_first) {
  const std::vector<Kernel> kernels =
      kernels_of(toy({"c3.partition_by=channels"}), Mode::partition);
  EXPECT_EQ(kernels[0].role, KernelRole::collective);
  EXPECT_EQ(kernels[0].max_grid, 4U);
  EXPECT_EQ(cus_in(kernels[0].cus, 32), 32);
  EXPECT_EQ(cus_in(kernels[1].cus, 32), 32);
}

TEST(C3Lowering, copy_engines_leave_all_cus_to_the_gemm_unless_some_are_taken) {
  for (const Mode mode : {Mode::dma, Mode::dma_partition}) {
    const std::vector<Kernel> kernels = kernels_of(toy(), mode);
    EXPECT_EQ(kernels[0].role, KernelRole::compute);
    EXPECT_EQ(cus_in(kernels[0].cus, 32), mode == Mode::dma ? 32 : 24);
    EXPECT_EQ(kernels[1].executor, Executor::dma);
  }
}

// 64 tiles of 2 on each of 24 CUs: 48 whole ones, then a third of one for each.
TEST(C3Lowering, stream_k_gives_every_wg_the_same_work) {
  const Scenario scenario = toy({"workload.gemm.schedule=stream_k"});
  const TaskGraph graph = lower(scenario, build_cluster(scenario.cluster), Mode::dma_partition);
  const Kernel& gemm = graph.kernels[KernelId(0)];
  ASSERT_EQ(gemm.items, 96U);
  EXPECT_EQ(gemm.max_grid, 48U);
  EXPECT_EQ(graph.latches[gemm.finish].target, 96U);
  for (std::uint32_t i = 0; i < 96; ++i) {
    const std::uint32_t scale = graph.item(gemm, i).scale;
    EXPECT_EQ(scale, i < 48 ? Item::kUnit : (Item::kUnit + 2) / 3) << i;
  }
}

}  // namespace
}  // namespace weft::c3_lowering_test
