// What an all-to-all becomes: pieces, their order, and who receives what.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "sim/plans/rank_orders.h"
#include "tests/unit/engine/simulated.h"

namespace weft::all_to_all_lowering_test {
namespace {

Scenario eight_gpus(const std::vector<std::string>& sets = {}) {
  return scenario_of(R"(
name: lowering
cluster: {base: clusters/node_8x_mi300x}
workload: {kind: collective, op: all_to_all, bytes: 8 MiB}
)",
                     sets);
}

TaskGraph lowered(const Scenario& scenario) {
  return lower(scenario, build_cluster(scenario.cluster), Mode::bulk);
}

TEST(AllToAllLowering, sends_every_pair_exactly_its_bytes) {
  // 1,000,003 B: not a multiple of any piece.
  const TaskGraph graph = lowered(eight_gpus({"workload.bytes=8000024 B"}));
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> sent;
  for (const Kernel& kernel : graph.kernels) {
    for (std::uint32_t i = 0; i < kernel.items; ++i) {
      const TaskGraph::SendRange its = graph.sends_of(graph.item(kernel, i).counts_down);
      for (std::uint32_t s = its.first; s < its.end(); ++s) {
        const Send& send = graph.sends[s];
        sent[{kernel.gpu.value, send.to}] += send.size;
      }
    }
  }
  EXPECT_EQ(sent.size(), 8U * 7U);
  for (const auto& [pair, size] : sent) EXPECT_EQ(size, 1'000'003) << pair.first << pair.second;
}

TEST(AllToAllLowering, spreads_a_small_call_over_one_round_of_the_channels) {
  // 64 channels, 7 peers: 9 pieces a pair keep 63 busy, a tenth would take a second round for 6 of
  // 70. 1 MiB / 9 = 116,509 B each.
  const TaskGraph graph = lowered(eight_gpus());
  EXPECT_EQ(graph.items.size(), 8U * 7U * 9U);
  EXPECT_EQ(graph.sends[0].size, 116'509U);
}

TEST(AllToAllLowering, fills_every_round_of_the_channels) {
  // 5 MiB a pair are 10 chunks, 70 for 64 channels: two rounds, which hold 18 pieces a pair.
  const TaskGraph graph = lowered(eight_gpus({"workload.bytes=40 MiB"}));
  EXPECT_EQ(graph.items.size(), 8U * 7U * 18U);
}

TEST(AllToAllLowering, cuts_nothing_below_4_kib) {
  const TaskGraph graph = lowered(eight_gpus({"workload.bytes=32 KiB"}));
  EXPECT_EQ(graph.items.size(), 8U * 7U);
}

TEST(AllToAllLowering, cuts_a_large_call_into_chunks) {
  // 64 MiB / 512 KiB = 128 pieces a pair.
  const TaskGraph graph = lowered(eight_gpus({"workload.bytes=512 MiB"}));
  EXPECT_EQ(graph.items.size(), 8U * 7U * 128U);
}

TEST(AllToAllLowering, in_every_step_each_gpu_receives_from_one) {
  const TaskGraph graph = lowered(eight_gpus());
  for (std::uint32_t step = 0; step < 7; ++step) {
    std::set<std::uint32_t> receivers;
    for (const Kernel& kernel : graph.kernels) {
      const Latch& latch = graph.latches[graph.item(kernel, step).counts_down];
      receivers.insert(graph.sends[latch.first_send].to);
    }
    EXPECT_EQ(receivers.size(), 8U) << step;
  }
}

TEST(AllToAllLowering, stages_only_what_leaves_the_node) {
  // To another node a piece is copied into a buffer first (2 B of traffic a byte) and out of one
  // at the receiver (written, read, written: 3).
  const Scenario scenario = scenario_of(R"(
name: staged
cluster:
  base: clusters/node_4x_mi210
  nodes: 2
  scale_out: {shape: switch, link: {bandwidth: 200 Gb/s, latency: 300 ns}}
  nic: {base: nics/connectx6, per_node: 4}
workload: {kind: collective, op: all_to_all, bytes: 8 KiB}
)");
  const TaskGraph graph = lowered(scenario);
  for (const Kernel& kernel : graph.kernels) {
    for (std::uint32_t i = 0; i < kernel.items; ++i) {
      const Item& item = graph.item(kernel, i);
      const Send& send = graph.sends[graph.latches[item.counts_down].first_send];
      const bool leaves = send.to / 4 != kernel.gpu.value / 4;
      EXPECT_EQ(graph.works[item.work].traffic, bytes(leaves ? 2048 : 1024));
      EXPECT_EQ(send.receive_traffic, leaves ? 3 : 1);
    }
  }
}

TEST(SpreadingStride, visits_every_gpu) {
  for (std::uint32_t gpus = 2; gpus <= 300; ++gpus) {
    const std::uint32_t stride = spreading_stride(gpus);
    EXPECT_EQ(std::gcd(stride, gpus), 1U) << gpus;
    EXPECT_GE(stride, 1U) << gpus;
  }
}

}  // namespace
}  // namespace weft::all_to_all_lowering_test
