// What NCCL does on H200: by which way it runs a call, and how an all-to-all is divided. Expected
// from its own tables and rules (docs/model.md), by hand.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "tests/unit/engine/simulated.h"

namespace weft::collective_h200_test {
namespace {

TaskGraph lowered(const std::string& cluster, const std::string& call) {
  const Scenario scenario = scenario_of("name: h200\ncluster: {base: clusters/" + cluster +
                                        "}\nworkload: {kind: collective, " + call +
                                        "}\ncollective: {algorithm: library}\n");
  return lower(scenario, build_cluster(scenario.cluster), Mode::bulk);
}

std::string way(const std::string& cluster, const std::string& call) {
  const std::string name = lowered(cluster, call).operators[OperatorId(0)].name;
  return name.substr(name.find('('));
}

// n = 4: ll 8.4 us + 0.75 S / 141 GB/s, simple 18.6 us + 0.75 S / 360: even at 3.15 MB.
// n = 8: ll 10.8 us + 0.875 S / 141, ll128 27.3 + 0.875 S / 331, simple 32.2 + 0.875 S / 360: even
// at 4.6 MB and 23.1 MB.
TEST(CollectiveOnH200, all_gathers_go_as_the_librarys_table_says) {
  EXPECT_EQ(way("node_4x_h200", "op: all_gather, bytes: 3 MB"), "(ring, ll)");
  EXPECT_EQ(way("node_4x_h200", "op: all_gather, bytes: 4 MiB"), "(ring, simple)");
  EXPECT_EQ(way("node_8x_h200", "op: all_gather, bytes: 4 MiB"), "(ring, ll)");
  EXPECT_EQ(way("node_8x_h200", "op: all_gather, bytes: 8 MiB"), "(ring, ll128)");
  EXPECT_EQ(way("node_8x_h200", "op: all_gather, bytes: 32 MiB"), "(ring, simple)");
}

// n = 4: ll 10.2 us + 1.5 S / 141, ll128 25.4 + 1.5 S / 331, simple 28.8 + 1.5 S / 360: even at
// 2.5 MB and 9.3 MB. n = 8, in the switch: 25 us + 0.875 S / 306, and ll 15 us + 1.75 S / 141: even
// at 1.05 MB.
TEST(CollectiveOnH200, all_reduces_go_as_the_librarys_table_says) {
  EXPECT_EQ(way("node_4x_h200", "op: all_reduce, bytes: 2 MB"), "(ring, ll)");
  EXPECT_EQ(way("node_4x_h200", "op: all_reduce, bytes: 4 MiB"), "(ring, ll128)");
  EXPECT_EQ(way("node_4x_h200", "op: all_reduce, bytes: 16 MiB"), "(ring, simple)");
  EXPECT_EQ(way("node_8x_h200", "op: all_reduce, bytes: 1 MB"), "(ring, ll)");
  EXPECT_EQ(way("node_8x_h200", "op: all_reduce, bytes: 2 MiB"), "(in_switch, simple)");
}

// Bytes on the wire of each message of GPU 0, by how many there are.
std::map<std::uint32_t, int> messages(const TaskGraph& graph) {
  std::map<std::uint32_t, int> sizes;
  const Kernel& kernel = graph.kernels[KernelId(0)];
  for (std::uint32_t i = 0; i < kernel.items; ++i) {
    const LatchId out = graph.item(kernel, i).counts_down;
    if (out.is_none()) continue;
    const TaskGraph::SendRange its = graph.sends_of(out);
    for (std::uint32_t s = its.first; s < its.end(); ++s) ++sizes[graph.sends[s].size];
  }
  return sizes;
}

// 32 channels (24 and up to a power of two) of 4 ranks: 8 a peer, so 8 parts of 32 KiB where a peer
// gets 256 KiB, with as many bytes of flags. The part that stays has eight too.
TEST(CollectiveOnH200, an_all_to_all_gives_each_peer_channels_of_its_own) {
  const TaskGraph graph = lowered("node_4x_h200", "op: all_to_all, bytes: 1 MiB");
  EXPECT_EQ(messages(graph), (std::map<std::uint32_t, int>{{64 << 10, 3 * 8}}));
  EXPECT_EQ(graph.kernels[KernelId(0)].max_grid, 4U * 8U);
}

// 4 KiB to a peer is half of the least part: one channel.
TEST(CollectiveOnH200, a_small_all_to_all_uses_few_channels) {
  const TaskGraph graph = lowered("node_4x_h200", "op: all_to_all, bytes: 16 KiB");
  EXPECT_EQ(messages(graph), (std::map<std::uint32_t, int>{{8 << 10, 3}}));
}

// 16 MiB to a peer: more than 32 x 16 KiB, so simple; 8 parts of 2 MiB, each 4 slots of 512 KiB.
TEST(CollectiveOnH200, a_large_all_to_all_goes_slot_by_slot) {
  const TaskGraph graph = lowered("node_4x_h200", "op: all_to_all, bytes: 64 MiB");
  EXPECT_EQ(messages(graph), (std::map<std::uint32_t, int>{{512 << 10, 3 * 8 * 4}}));
}

// 192 MiB to a peer: 8 parts of 24 MiB would be more than 32 slots each, so 16 of 12 MiB. 48 parts
// on 32 channels.
TEST(CollectiveOnH200, a_part_of_more_than_32_slots_is_halved) {
  const TaskGraph graph = lowered("node_4x_h200", "op: all_to_all, bytes: 768 MiB");
  EXPECT_EQ(messages(graph), (std::map<std::uint32_t, int>{{512 << 10, 3 * 16 * 24}}));
  EXPECT_EQ(graph.kernels[KernelId(0)].max_grid, 32U);
}

// Held to 4 channels, each rank (oneself included) has one.
TEST(CollectiveOnH200, channels_that_are_given_are_divided_too) {
  const Scenario scenario = scenario_of(
      "name: h200\ncluster: {base: clusters/node_4x_h200}\n"
      "workload: {kind: collective, op: all_to_all, bytes: 4 MiB}\ncollective: {channels: 4}\n");
  const TaskGraph graph = lower(scenario, build_cluster(scenario.cluster), Mode::bulk);
  EXPECT_EQ(messages(graph), (std::map<std::uint32_t, int>{{512 << 10, 3 * 2}}));
  EXPECT_EQ(graph.kernels[KernelId(0)].max_grid, 4U);
}

// An engine's part takes its bytes over engine_ratio of it on a link, a store's over bandwidth: 64
// MiB to one peer at 400 and at 200 GB/s are 168 and 336 us; both links in a row, and little else.
TEST(CollectiveOnH200, engines_have_a_bandwidth_of_their_own_on_a_link) {
  const auto time = [](const std::string& bandwidth) {
    const Scenario scenario = scenario_of(
        "name: engines\ncluster: {base: clusters/node_4x_h200, gpus_per_node: 2, gpu: {base: "
        "gpus/h200, dma: {rate: 1 TB/s}}, scale_up: {link: {" +
        bandwidth +
        "}}}\nworkload: {kind: collective, op: all_to_all, bytes: 128 MiB}\ncollective: {executor: "
        "dma}\n");
    return to_microseconds(run(scenario).time);
  };
  const double fast = time("bandwidth: 200 GB/s, engine_ratio: 2");
  const double slow = time("bandwidth: 200 GB/s, engine_ratio: 1");
  EXPECT_NEAR(slow - fast, 67'108'864 / 200e3 - 67'108'864 / 400e3, 5);
}

}  // namespace
}  // namespace weft::collective_h200_test
