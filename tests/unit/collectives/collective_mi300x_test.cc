// What RCCL does on MI300X and MI355X: by which way it runs an all-reduce, in a node and between
// nodes, and on how many channels. Expected from its own tuning models (configs/gpus), by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/collectives/collective_choice.h"
#include "tests/unit/engine/simulated.h"

namespace weft::collective_mi300x_test {
namespace {

TaskGraph lowered(const std::string& cluster, const std::string& size,
                  const std::string& algorithm = "library", const std::string& op = "all_reduce") {
  const Scenario scenario =
      scenario_of("name: rccl\ncluster: " + cluster + "\nworkload: {kind: collective, op: " + op +
                  ", bytes: " + size + "}\ncollective: {algorithm: " + algorithm + "}\n");
  return lower(scenario, build_cluster(scenario.cluster), Mode::bulk);
}

std::string way(const std::string& cluster, const std::string& size) {
  const std::string name = lowered(cluster, size).operators[OperatorId(0)].name;
  return name.substr(name.find('('));
}

const std::string kTwoNodes = "{base: clusters/nodes_16x_8x_mi355x, nodes: 2}";
const std::string kFourNodes = "{base: clusters/nodes_16x_8x_mi355x, nodes: 4}";

// Model 6. Two nodes: ll up to 128 KiB less one, ll128 up to 17.7 MB; trees up to 160 MiB.
TEST(RcclBetweenNodes, all_reduces_go_as_its_tuning_model_says) {
  EXPECT_EQ(way(kTwoNodes, "64 KiB"), "(tree, ll)");
  EXPECT_EQ(way(kTwoNodes, "128 KiB"), "(tree, ll128)");
  EXPECT_EQ(way(kTwoNodes, "16 MiB"), "(tree, ll128)");
  EXPECT_EQ(way(kTwoNodes, "32 MiB"), "(tree, simple)");
  EXPECT_EQ(way(kTwoNodes, "128 MiB"), "(tree, simple)");
  EXPECT_EQ(way(kTwoNodes, "256 MiB"), "(ring, simple)");
}

// Beyond two nodes 3.8 times of ll128: 64 MiB.
TEST(RcclBetweenNodes, more_than_two_nodes_have_a_row_of_their_own) {
  EXPECT_EQ(way(kFourNodes, "32 MiB"), "(tree, ll128)");
  EXPECT_EQ(way(kFourNodes, "128 MiB"), "(tree, simple)");
}

// The rows are of nodes of eight: a ring of one GPU a node has a fraction of their rings' steps.
TEST(RcclBetweenNodes, its_rows_are_of_whole_nodes) {
  const Scenario scenario = scenario_of("name: rccl\ncluster: " + kTwoNodes +
                                        "\nworkload: {kind: collective, op: all_reduce, "
                                        "bytes: 1 MiB}\ncollective: {algorithm: library}\n");
  const Cluster cluster = build_cluster(scenario.cluster);
  const auto row = [&](const std::vector<std::uint32_t>& ranks) {
    CollectiveCall call;
    call.op = CollectiveOp::all_reduce;
    call.buffer = bytes(1 << 20);
    call.options = scenario.collective;
    call.ranks = ranks;
    return row_between_nodes(cluster, call, group_of(cluster, call));
  };
  ASSERT_NE(row({}), nullptr);
  EXPECT_EQ(row({})->nodes, 2);
  EXPECT_EQ(row({0, 8}), nullptr);
  EXPECT_EQ(row({0, 1, 2, 3, 4, 5, 6, 7}), nullptr);
}

// A channel has 256 threads x 8 B at least: 64 KiB are 32 channels, whatever they post.
TEST(RcclBetweenNodes, small_calls_have_as_many_channels_as_fill_their_threads) {
  EXPECT_EQ(lowered(kTwoNodes, "16 KiB").kernels[KernelId(0)].max_grid, 8U);
  EXPECT_EQ(lowered(kTwoNodes, "64 KiB").kernels[KernelId(0)].max_grid, 32U);
  EXPECT_EQ(lowered(kTwoNodes, "1 MiB").kernels[KernelId(0)].max_grid, 64U);
}

// A protocol that is asked for is taken; so are algorithms that the library is said to have.
TEST(RcclBetweenNodes, what_the_user_says_of_the_library_counts) {
  const std::string rings =
      "{base: clusters/nodes_16x_8x_mi355x, nodes: 2, gpu: {collective: {algorithms: [ring]}}}";
  EXPECT_EQ(way(rings, "1 MiB").find("(ring"), 0U);
}

// In a node without NICs of theirs MI300X have no ll128, MI355X have.
TEST(RcclInANode, has_ll128_on_mi355x_only) {
  for (const std::string size : {"64 KiB", "1 MiB", "4 MiB", "16 MiB"}) {
    EXPECT_EQ(way("{base: clusters/node_8x_mi300x}", size).find("ll128"), std::string::npos)
        << size;
  }
  EXPECT_NE(way("{base: clusters/node_8x_mi355x}", "1 MiB").find("ll128"), std::string::npos);
}

}  // namespace
}  // namespace weft::collective_mi300x_test
