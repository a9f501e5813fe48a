// By which way NCCL runs collectives on A100, B200 and nodes of H100: its own costs (configs/gpus),
// start-up + step x steps + carried x S / bus, by hand.
#include <gtest/gtest.h>

#include <string>

#include "sim/collectives/collective_choice.h"
#include "tests/unit/engine/simulated.h"

namespace weft::collective_nccl_test {
namespace {

TaskGraph lowered(const std::string& cluster, const std::string& workload) {
  const Scenario scenario = scenario_of("name: nccl\ncluster: {base: clusters/" + cluster +
                                        "}\nworkload: {kind: collective, " + workload +
                                        "}\ncollective: {algorithm: library}\n");
  return lower(scenario, build_cluster(scenario.cluster), Mode::bulk);
}
std::string way(const std::string& cluster, const std::string& workload) {
  const std::string name = lowered(cluster, workload).operators[OperatorId(0)].name;
  return name.substr(name.find('('));
}

// Eight, all-gather: ll 10.8 us + S / 100.2 GB/s, ll128 27.3 + S / 252.6, simple 32.2 + S / 274.3:
// ll to 2.74 MB, ll128 to 15.6 MB.
TEST(NcclOnA100, all_gathers_change_the_protocol_where_its_costs_cross) {
  EXPECT_EQ(way("node_8x_a100", "op: all_gather, bytes: 2 MiB"), "(ring, ll)");
  EXPECT_EQ(way("node_8x_a100", "op: all_gather, bytes: 4 MiB"), "(ring, ll128)");
  EXPECT_EQ(way("node_8x_a100", "op: all_gather, bytes: 8 MiB"), "(ring, ll128)");
  EXPECT_EQ(way("node_8x_a100", "op: all_gather, bytes: 16 MiB"), "(ring, simple)");
}

// Four, all-reduce: ll 10.2 us + S / 188 GB/s, in the switch 25 + S / 533: 4.30 MB.
TEST(NcclOnB200, all_reduces_go_by_the_switch_from_4_3_mb_on_four) {
  const std::string four = "node_8x_b200, gpus_per_node: 4";
  EXPECT_EQ(way(four, "op: all_reduce, bytes: 4 MiB"), "(ring, ll)");
  EXPECT_EQ(way(four, "op: all_reduce, bytes: 8 MiB"), "(in_switch, simple)");
}

// Eight GPUs' parts, 32 channels: 8 turns of 64 KiB of each part are 128 MiB; below it takes 32
// KiB, below 16 MiB 16 KiB. A block of S/8 has so many pieces, and a message loads each.
TEST(NcclOnB200, a_switch_adds_up_in_chunks_of_16_to_64_kib) {
  const auto largest = [](const std::string& size) {
    const TaskGraph graph = lowered("node_8x_b200", "op: all_reduce, bytes: " + size);
    std::uint32_t most = 0;
    for (const Send& send : graph.sends) most = std::max(most, send.size);
    return most;
  };
  EXPECT_EQ(largest("128 MiB"), 64U * 1024);
  EXPECT_EQ(largest("64 MiB"), 32U * 1024);
  EXPECT_EQ(largest("16 MiB"), 32U * 1024);
  EXPECT_EQ(largest("8 MiB"), 16U * 1024);
}

TEST(NcclBetweenNodes, of_h100_goes_by_trees_then_by_switches_then_by_rings) {
  const std::string nodes = "nodes_16x_8x_h100, nodes: 4";
  EXPECT_EQ(way(nodes, "op: all_reduce, bytes: 64 KiB"), "(tree, ll)");
  EXPECT_EQ(way(nodes, "op: all_reduce, bytes: 8 MiB"), "(tree, ll128)");
  EXPECT_EQ(way(nodes, "op: all_reduce, bytes: 16 MiB"), "(in_switch_tree, simple)");
  EXPECT_EQ(way(nodes, "op: all_reduce, bytes: 512 MiB"), "(ring, simple)");
}

// Of channels that start within 2.4 us of one another: one 0, two 1.2, four 1.8 us more.
TEST(StartOfChannels, is_that_of_the_last) {
  CollectiveSpec library;
  library.spread = nanoseconds(2'400);
  EXPECT_EQ(startup_of(library, nanoseconds(5'000), 1), nanoseconds(5'000));
  EXPECT_EQ(startup_of(library, nanoseconds(5'000), 2), nanoseconds(6'200));
  EXPECT_EQ(startup_of(library, nanoseconds(5'000), 4), nanoseconds(6'800));
}

// 0.76 of 19.51 us with one neighbour in the node; all of it with two, or beyond the node.
TEST(Startup, of_two_ranks_of_a_node_is_a_fraction) {
  const CollectiveSpec library;
  ProtocolSpec simple;
  simple.startup = nanoseconds(19'510);
  simple.of_two = 0.76;
  const RankGroup two{.gpus = {4, 5}, .per_node = 2, .one_node = true};
  const RankGroup apart{.gpus = {0, 8}, .per_node = 1, .one_node = false};
  const RankGroup four{.gpus = {0, 1, 2, 3}, .per_node = 4, .one_node = true};
  EXPECT_EQ(startup_of(library, simple, two, 1), picoseconds(14'827'600));
  EXPECT_EQ(startup_of(library, simple, apart, 1), nanoseconds(19'510));
  EXPECT_EQ(startup_of(library, simple, four, 1), nanoseconds(19'510));
}

}  // namespace
}  // namespace weft::collective_nccl_test
