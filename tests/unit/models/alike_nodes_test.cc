// A ring collective alone: which nodes stand for all, and when none do.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/models/alike_copies.h"
#include "tests/unit/models/built.h"

namespace weft::alike_nodes_test {
namespace {

using alike_copies_testing::Alike;

struct Ring {
  std::string cluster = "base: clusters/peers_ring_128, nodes: 12";
  std::string work = "op: all_reduce, bytes: 12 KiB";
  std::string collective = "algorithm: ring, channels: 1, protocol: simple";
  std::string more = "";
};

// Of twelve.
std::uint32_t nodes_that_stand_for_all(const Ring& ring) {
  const std::string text =
      "{name: a, cluster: {" + ring.cluster + "}, workload: {kind: " + "collective, " + ring.work +
      "}, collective: {" + ring.collective + "}, modes: [bulk]" + ring.more + "}";
  const Loaded loaded = load_scenario_text(text, "a.yaml", models_testing::shipped_configs());
  EXPECT_EQ(loaded.problems.to_text(), "");
  const Alike alike(*loaded.scenario);
  return alike.some ? static_cast<std::uint32_t>(alike.some->cluster.spec.nodes) : 12;
}

// On two nodes the one after is the one before.
TEST(AlikeNodes, are_three_of_a_ring_of_nodes) { EXPECT_EQ(nodes_that_stand_for_all({}), 3U); }

TEST(AlikeNodes, are_two_on_a_switch) {
  EXPECT_EQ(nodes_that_stand_for_all({.cluster = "base: clusters/peers_switch_128, nodes: 12"}),
            2U);
}

TEST(AlikeNodes, are_two_leaves_of_a_fat_tree) {
  EXPECT_EQ(nodes_that_stand_for_all(
                {.cluster = "base: clusters/nodes_16x_8x_h100, nodes: 12, gpus_per_node: 1, nic: "
                            "{per_node: 1}, scale_out: {endpoints_per_leaf: 3}"}),
            6U);
}

// Of a torus a ring goes along its rows, back and forth.
TEST(AlikeNodes, are_not_sought_on_a_torus) {
  EXPECT_EQ(nodes_that_stand_for_all({.cluster = "base: clusters/peers_torus_128, nodes: 12, "
                                                 "scale_out: {dims: [4, 3]}"}),
            12U);
}

TEST(AlikeNodes, are_not_sought_where_blocks_differ_by_a_byte) {
  EXPECT_EQ(nodes_that_stand_for_all({.work = "op: all_reduce, bytes: 12289 B"}), 12U);
  EXPECT_EQ(nodes_that_stand_for_all({.work = "op: all_gather, bytes: 1200012 B",
                                      .collective = "algorithm: ring, channels: 8, protocol: ll"}),
            12U);
}

TEST(AlikeNodes, are_not_sought_where_another_algorithm_may_be_chosen) {
  EXPECT_EQ(nodes_that_stand_for_all({.collective = "algorithm: tree, channels: 1"}), 12U);
  EXPECT_EQ(nodes_that_stand_for_all(
                {.work = "op: all_to_all, bytes: 12 KiB", .collective = "channels: 1"}),
            12U);
}

TEST(AlikeNodes, are_not_sought_for_several_groups_at_once) {
  EXPECT_EQ(nodes_that_stand_for_all({.work = "op: all_reduce, bytes: 12 KiB, groups: {size: 6, "
                                              "stride: 1}"}),
            12U);
}

TEST(AlikeNodes, are_not_sought_where_something_tells_nodes_apart) {
  const std::string ring = "base: clusters/peers_ring_128, nodes: 12, ";
  EXPECT_EQ(nodes_that_stand_for_all({.cluster = ring + "stragglers: [{gpu: 3, clock: 0.5}]"}),
            12U);
  EXPECT_EQ(nodes_that_stand_for_all(
                {.cluster = ring + "degraded_links: [{link: nic3 send, bandwidth: 0.5}]"}),
            12U);
}

TEST(AlikeNodes, are_not_sought_where_all_are_to_be_simulated) {
  EXPECT_EQ(nodes_that_stand_for_all({.more = ", run: {repeats: blocks}"}), 12U);
}

}  // namespace
}  // namespace weft::alike_nodes_test
