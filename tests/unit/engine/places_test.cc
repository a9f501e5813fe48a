// Which parts of a cluster are places of their own, and how long nothing comes from elsewhere.
#include "sim/engine/places.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::places_test {
namespace {

Places places(const Scenario& scenario, const TaskGraph& graph) {
  graph.verify();
  const Cluster cluster = build_cluster(scenario.cluster);
  return places_of(cluster, graph, Transport(cluster.network));
}

Scenario nodes_on_a_ring(const std::string& latency) {
  return scenario_of(R"(
name: four nodes
cluster:
  name: four nodes
  nodes: 4
  gpus_per_node: 2
  gpu: {base: gpus/ideal, cus: 2, cu: {wgs: 2}}
  scale_up: {shape: fully_connected, link: {bandwidth: 50 GB/s, latency: 1 ns}}
  scale_out: {shape: ring, link: {bandwidth: 25 GB/s, latency: )" +
                     latency + R"(}}
  nic: {base: nics/ideal, bandwidth: 25 GB/s}
workload: {kind: collective, op: all_to_all, bytes: 2 MB}
)");
}

TEST(Places, are_nodes_and_the_switches_between_them) {
  const Places found = places(two_nodes(), {});
  EXPECT_EQ(found.count, 3U);
  EXPECT_EQ(found.lookahead, nanoseconds(300));
  EXPECT_EQ(found.of_node, (std::vector<std::uint32_t>{0, 1}));
  // Each endpoint's link up and down, then the NICs' ports.
  EXPECT_EQ(std::count(found.of_link.begin(), found.of_link.end(), 2U), 2);
  EXPECT_EQ(std::count(found.of_link.begin(), found.of_link.end(), 0U), 3);
}

TEST(Places, links_inside_nodes_do_not_count) {
  const Places found = places(nodes_on_a_ring("70 ns"), {});
  EXPECT_EQ(found.count, 4U);
  EXPECT_EQ(found.lookahead, nanoseconds(70));
}

TEST(Places, parts_that_a_link_without_latency_joins_are_one) {
  EXPECT_EQ(places(nodes_on_a_ring("0 ns"), {}).count, 1U);
}

TEST(LinksOfPlaces, are_those_that_end_at_a_place_and_those_that_begin_there) {
  Places places;
  places.count = 3;
  places.of_link = {1, 0, 1, 2};
  places.from_link = {0, 1, 2, 2};
  const LinksOfPlaces links(places);
  const auto numbers = [](std::span<const LinkId> of) {
    std::vector<std::uint32_t> all;
    for (const LinkId link : of) all.push_back(link.value);
    return all;
  };
  using Numbers = std::vector<std::uint32_t>;
  EXPECT_EQ(numbers(links.into(0)), (Numbers{1}));
  EXPECT_EQ(numbers(links.into(1)), (Numbers{0, 2}));
  EXPECT_EQ(numbers(links.into(2)), (Numbers{3}));
  EXPECT_EQ(numbers(links.from(0)), (Numbers{0}));
  EXPECT_EQ(numbers(links.from(1)), (Numbers{1}));
  EXPECT_EQ(numbers(links.from(2)), (Numbers{2, 3}));
}

TEST(Places, nodes_whose_kernels_wait_for_one_another_are_one) {
  HandMade made;
  const Item item = HandMade::item(made.takes(microseconds(1)));
  const KernelId first = made.kernel(plain(2), {item});
  made.kernel(plain(7), {item}, {first});
  const Places found = places(nodes_on_a_ring("70 ns"), made.graph);
  EXPECT_EQ(found.count, 3U);
  EXPECT_EQ(found.of_node, (std::vector<std::uint32_t>{0, 1, 2, 1}));
}

TEST(Places, nodes_that_use_one_latch_are_one) {
  HandMade made;
  const std::uint32_t work = made.takes(microseconds(1));
  const LatchId both = made.graph.add_latch(1);
  made.kernel(plain(0), {HandMade::item(work, both)});
  made.kernel(plain(5), {HandMade::item(work, LatchId::none(), both)});
  const Places found = places(nodes_on_a_ring("70 ns"), made.graph);
  EXPECT_EQ(found.of_node, (std::vector<std::uint32_t>{0, 1, 0, 2}));
}

TEST(Places, a_message_ties_nobody) {
  HandMade made;
  const std::uint32_t work = made.takes(microseconds(1));
  const LatchId there = made.graph.add_latch(1);
  const LatchId out = made.sends({.to = 5, .size = 1'000, .arrives = there});
  made.kernel(plain(0), {HandMade::item(work, out)});
  made.kernel(plain(5), {HandMade::item(work, LatchId::none(), there)});
  EXPECT_EQ(places(nodes_on_a_ring("70 ns"), made.graph).count, 4U);
}

TEST(Places, who_counts_down_what_a_send_has_issued_is_at_the_sender) {
  HandMade made;
  const std::uint32_t work = made.takes(microseconds(1));
  const LatchId there = made.graph.add_latch(1);
  const LatchId issued = made.graph.add_latch(1);
  const LatchId out = made.sends({.to = 5, .size = 1'000, .arrives = there, .issued = issued});
  made.kernel(plain(0), {HandMade::item(work, out)});
  made.kernel(plain(7), {HandMade::item(work, LatchId::none(), issued)});
  const Places found = places(nodes_on_a_ring("70 ns"), made.graph);
  EXPECT_EQ(found.of_node, (std::vector<std::uint32_t>{0, 1, 2, 0}));
}

}  // namespace
}  // namespace weft::places_test
