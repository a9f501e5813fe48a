// Some copies of a model stand for all: what is kept, when it is not done, and that all that is
// reported is what all copies do.
#include "tests/unit/models/alike_copies.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/sanitized.h"
#include "tests/unit/models/built.h"

namespace weft::alike_copies_test {
namespace {

using alike_copies_testing::Alike;
using alike_copies_testing::by_all_copies;
using models_testing::first_named;

// On 16 nodes of eight H100, one node a leaf: two stages of eight nodes, a copy a node. Blocks of
// all collectives are equal: 8 divides all weights.
struct Machine {
  std::string cluster = "scale_out: {endpoints_per_leaf: 8}";
  std::string parallel = "tensor: 8, pipeline: 2, data: 8, sharded_optimizer: true";
  std::string more = "";
};

Scenario on(const Machine& machine) {
  const std::string text =
      "{name: a, cluster: {base: clusters/nodes_16x_8x_h100, " + machine.cluster +
      "}, workload: {kind: transformer, phase: training, model: {layers: 2, hidden: 1024, heads: "
      "16, kv_heads: 8, inner: 4096, vocabulary: 4096}, sequence_length: 1024, microbatch: 1, "
      "sequences: 16, parallel: {" +
      machine.parallel + "}}" + machine.more + "}";
  const Loaded loaded = load_scenario_text(text, "a.yaml", models_testing::shipped_configs());
  EXPECT_EQ(loaded.problems.to_text(), "");
  return loaded.scenario.value_or(Scenario{});
}

std::uint32_t gpus_that_stand_for_all(const Machine& machine) {
  const Scenario scenario = on(machine);
  const Alike alike(scenario);
  return alike.some ? alike.some->cluster.gpus()
                    : static_cast<std::uint32_t>(scenario.cluster.gpus());
}

// Two nodes, so two leaves, of each stage.
TEST(AlikeCopies, are_the_first_of_each_stage) {
  const Scenario scenario = on({});
  const Alike alike(scenario);
  const auto& some = alike.some;
  ASSERT_TRUE(some);
  EXPECT_EQ(some->cluster.spec.nodes, 4);
  const ModelOp& sum = first_named(some->graph, "gradient_sum");
  EXPECT_EQ(std::get<CommunicationShape>(sum.shape).turns, 4U);
  EXPECT_EQ(some->graph.places[sum.place].groups[3], (std::vector<std::uint32_t>{19, 27}));
  const ModelOp& send = first_named(some->graph, "send_forward");
  EXPECT_EQ(std::get<CommunicationShape>(send.shape).turns, 1U);
  EXPECT_EQ(some->graph.places[send.place].groups[9], (std::vector<std::uint32_t>{9, 25}));
}

TEST(AlikeCopies, stand_for_others_on_a_switch_and_whole_leaves_only) {
  EXPECT_EQ(gpus_that_stand_for_all({}), 32U);
  EXPECT_EQ(gpus_that_stand_for_all({.cluster = "scale_out: {shape: switch, endpoints_per_leaf: ~, "
                                                "oversubscription: ~}"}),
            32U);
  EXPECT_EQ(gpus_that_stand_for_all({.cluster = "scale_out: {endpoints_per_leaf: 16}"}), 64U);
}

// A part with each expert once has no one to send a ring's gradients to.
TEST(AlikeCopies, have_each_expert_twice) {
  const auto gpus_for = [](const std::string& expert) {
    const std::string text =
        "{name: a, cluster: {base: clusters/nodes_16x_8x_h100, scale_out: {endpoints_per_leaf: "
        "8}}, workload: {kind: moe, phase: training, model: {layers: 2, hidden: 1024, heads: 16, "
        "kv_heads: 8, vocabulary: 4096}, moe: {experts: 64, top_k: 2, inner: 1024}, "
        "sequence_length: 1024, microbatch: 1, sequences: 128, parallel: {pipeline: 2, data: 64, "
        "sharded_optimizer: true, expert: " +
        expert + "}}}";
    const Loaded loaded = load_scenario_text(text, "a.yaml", models_testing::shipped_configs());
    EXPECT_EQ(loaded.problems.to_text(), "");
    const Alike alike(*loaded.scenario);
    return alike.some ? alike.some->cluster.gpus() : 128U;
  };
  EXPECT_EQ(gpus_for("8"), 32U);    // two of a stage's eight nodes
  EXPECT_EQ(gpus_for("16"), 64U);   // four: experts lie on two
  EXPECT_EQ(gpus_for("32"), 128U);  // all, twice four
}

TEST(AlikeCopies, are_not_sought_where_something_tells_copies_apart) {
  for (const Machine& machine : std::vector<Machine>{
           {.cluster = "scale_out: {endpoints_per_leaf: 32}"},  // a stage has two leaves
           {.cluster = "scale_out: {endpoints_per_leaf: 8, up_routing: ecmp}"},
           {.cluster = "scale_out: {endpoints_per_leaf: 8}, stragglers: [{gpu: 3, clock: 0.5}]"},
           {.cluster = "scale_out: {endpoints_per_leaf: 8}, degraded_links: [{link: nic3 send, "
                       "bandwidth: 0.5}]"},
           {.parallel = "tensor: 8, pipeline: 2, data: 8",
           .more = ", collective: {algorithm: tree}"},
           {.more = ", run: {repeats: blocks}"},
           {.more = ", run: {repeats: each}"}}) {
    EXPECT_EQ(gpus_that_stand_for_all(machine), 128U) << machine.cluster << machine.more;
  }
}

// Blocks of a ring differ by a byte where the buffer does not divide, and which rank sends which
// at what time then matters: a hundredth of a per cent.
template <class Tag>
void expect_close(Quantity<Tag> some, Quantity<Tag> all, const std::string& of) {
  const auto count = static_cast<double>(all.count());
  EXPECT_NEAR(static_cast<double>(some.count()), count, 1e-4 * count) << of;
}

void expect_same_gpus(const RunResult& some, const RunResult& all) {
  ASSERT_EQ(some.gpus.size(), all.gpus.size());
  for (std::size_t i = 0; i < all.gpus.size(); ++i) {
    const std::string gpu = "GPU " + std::to_string(i);
    expect_close(some.gpus[i].end - SimTime{}, all.gpus[i].end - SimTime{}, gpu);
    expect_close(some.gpus[i].active, all.gpus[i].active, gpu);
    expect_close(some.gpus[i].sent, all.gpus[i].sent, gpu);
    expect_close(some.gpus[i].hbm, all.gpus[i].hbm, gpu);
  }
}

void expect_same_operators(const RunResult& some, const RunResult& all) {
  ASSERT_EQ(some.operators.size(), all.operators.size());
  for (std::size_t i = 0; i < all.operators.size(); ++i) {
    const OperatorUse& a = some.operators[i];
    const OperatorUse& b = all.operators[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.kernels, b.kernels) << b.name;
    EXPECT_EQ(a.wgs, b.wgs) << b.name;
    EXPECT_EQ(a.messages, b.messages) << b.name;
    expect_close(a.sum, b.sum, b.name);
    expect_close(a.exposed, b.exposed, b.name);
    expect_close(a.sent, b.sent, b.name);
    expect_close(a.critical, b.critical, b.name);
  }
}

void expect_same(const RunResult& some, const RunResult& all) {
  expect_close(some.time, all.time, "time");
  expect_close(some.idle, all.idle, "idle");
  expect_close(some.path_gaps, all.path_gaps, "gaps");
  expect_same_gpus(some, all);
  expect_same_operators(some, all);
  ASSERT_EQ(some.links.size(), all.links.size());
  for (std::size_t i = 0; i < all.links.size(); ++i) {
    EXPECT_EQ(some.links[i].name, all.links[i].name);
    EXPECT_EQ(some.links[i].use.messages, all.links[i].use.messages) << all.links[i].name;
    expect_close(some.links[i].use.carried, all.links[i].use.carried, all.links[i].name);
  }
  EXPECT_EQ(some.ledger.wgs.done, all.ledger.wgs.done);
  EXPECT_EQ(some.ledger.flops.done, all.ledger.flops.done);
  EXPECT_EQ(some.ledger.messages.done, all.ledger.messages.done);
  EXPECT_TRUE(some.ledger.balanced());
}

TEST(AlikeCopies, do_what_all_do) {
  std::vector<Machine> machines{
      {},
      {.cluster = "scale_out: {shape: switch, endpoints_per_leaf: ~, oversubscription: ~}"},
      {.parallel = "tensor: 4, pipeline: 2, data: 16, sharded_optimizer: true"},
      {.parallel = "tensor: 8, pipeline: 2, context: 2, data: 4, sharded_optimizer: true"}};
  if (kSanitized) machines.resize(1);  // each takes half a minute then
  for (const Machine& machine : machines) {
    const Scenario scenario = on(machine);
    const Alike alike(scenario);
    ASSERT_TRUE(alike.some) << machine.parallel;
    expect_same(alike.run(Mode::bulk), by_all_copies(scenario, Mode::bulk));
  }
}

TEST(AlikeCopies, do_what_all_do_where_they_fuse) {
  const Scenario scenario =
      on({.parallel = "tensor: 8, pipeline: 1, data: 16, sharded_optimizer: true"});
  const Alike alike(scenario);
  ASSERT_TRUE(alike.some);
  expect_same(alike.run(Mode::fused), by_all_copies(scenario, Mode::fused));
}

// A ring collective alone.
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

// Messages of several nodes meet on the links of the ring.
TEST(AlikeNodes, are_not_sought_on_a_ring_of_nodes_with_several_nics) {
  EXPECT_EQ(nodes_that_stand_for_all(
                {.cluster = "base: clusters/peers_ring_128, nodes: 12, gpus_per_node: 2, nic: "
                            "{per_node: 2}, scale_up: {shape: fully_connected, link: {bandwidth: "
                            "50 GB/s, latency: 500 ns}}"}),
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
}  // namespace weft::alike_copies_test
