// Worked examples of the time of one message. In all of them 1 GB/s is 1 byte a nanosecond, a link
// has a latency L, a NIC a latency Ln and a receive time R (600 and 50 ns), and a message of S
// bytes at rate r takes S / r to pass a point.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/unit/network/drive.h"

namespace weft::transport_time_test {
namespace {

constexpr Duration kLink = nanoseconds(700);
constexpr Duration kNic = nanoseconds(600);
constexpr Duration kReceive = nanoseconds(50);

// Tight: not there one picosecond before `end`, there at `end`. Wakes are the only moments at which
// anything happens, so the test stops just before and counts.
void expect_delivered(const NetworkSpec& spec, const Outgoing& message, Duration end) {
  Drive drive(spec);
  drive.post(SimTime{}, message);
  drive.run();
  EXPECT_EQ(drive.delivered(message.tag), at(end));
  EXPECT_EQ(drive.transport().in_flight(), 0U);

  Drive early(spec);
  early.post(SimTime{}, message);
  Outgoing later = message;
  later.tag = message.tag + 1;
  early.post(at(end), later);  // everything before `end` has happened
  EXPECT_TRUE(early.order().empty());
  EXPECT_GE(early.transport().in_flight(), 2U);
}

TEST(TransportTime, a_message_over_a_switch_pays_its_serialisation_once) {
  // Cut-through: the head takes Ln + L + L + R, the tail follows S / r behind it.
  const NetworkSpec spec = one_gpu_nodes(4, fabric("switch", kLink), plain_nic());
  expect_delivered(spec, {.tag = 1, .from_gpu = 2, .to_gpu = 0, .size = bytes(4'096)},
                   kNic + kLink + kLink + nanoseconds(4'096) + kReceive);
  expect_delivered(spec, {.tag = 2, .from_gpu = 0, .to_gpu = 3, .size = bytes(1)},
                   kNic + kLink + kLink + nanoseconds(1) + kReceive);
}

TEST(TransportTime, a_message_over_a_torus_pays_a_latency_for_each_hop) {
  // From (0,0) to (2,1) of 4x4, vertex 2 + 4 x 1: 3 hops.
  FabricSpec torus = fabric("torus, dims: [4, 4]", kLink);
  expect_delivered(one_gpu_nodes(16, torus, plain_nic()),
                   {.tag = 1, .from_gpu = 0, .to_gpu = 6, .size = bytes(1'000)},
                   kNic + 3 * kLink + nanoseconds(1'000) + kReceive);
}

TEST(TransportTime, a_message_over_a_fat_tree_has_2_or_4_hops) {
  const FabricSpec tree = fabric("fat_tree, endpoints_per_leaf: 4", kLink);
  const NetworkSpec spec = one_gpu_nodes(8, tree, plain_nic());
  expect_delivered(spec, {.tag = 1, .from_gpu = 0, .to_gpu = 3, .size = bytes(1'000)},
                   kNic + 2 * kLink + nanoseconds(1'000) + kReceive);
  expect_delivered(spec, {.tag = 1, .from_gpu = 0, .to_gpu = 4, .size = bytes(1'000)},
                   kNic + 4 * kLink + nanoseconds(1'000) + kReceive);
}

TEST(TransportTime, a_message_over_a_dragonfly_has_2_to_5_hops) {
  // 3 groups of 2 routers: from router 0 to itself, to router 1, over its own global link, over
  // that of router 1 to its end, and beyond (dragonfly_test.cc has the routes).
  const FabricSpec dragonfly = fabric(
      "dragonfly, endpoints_per_router: 2, routers_per_group: 2, links_between_groups: 1", kLink);
  const NetworkSpec spec = one_gpu_nodes(12, dragonfly, plain_nic());
  const std::vector<std::pair<std::uint32_t, int>> ways{{1, 2}, {2, 3}, {6, 3}, {8, 4}, {10, 5}};
  for (const auto& [to, hops] : ways) {
    expect_delivered(spec, {.tag = 1, .from_gpu = 0, .to_gpu = to, .size = bytes(1'000)},
                     kNic + hops * kLink + nanoseconds(1'000) + kReceive);
  }
}

TEST(TransportTime, the_slowest_part_of_the_way_decides_how_far_the_tail_lags) {
  // 1000 bytes; NIC and links of 1, 2 or 4 B/ns: latencies + 1000 / the smaller of the two.
  for (const std::int64_t nic_rate : {1, 2, 4}) {
    for (const std::int64_t link_rate : {1, 2, 4}) {
      NicSpec nic = plain_nic();
      nic.bandwidth = gigabytes_per_second(nic_rate);
      FabricSpec one = fabric("switch", kLink);
      one.link.bandwidth = gigabytes_per_second(link_rate);
      expect_delivered(
          one_gpu_nodes(2, one, nic), {.tag = 1, .from_gpu = 0, .to_gpu = 1, .size = bytes(1'000)},
          kNic + 2 * kLink + nanoseconds(1'000 / std::min(nic_rate, link_rate)) + kReceive);
    }
  }
}

TEST(TransportTime, serialisation_is_rounded_up_once) {
  // 1000 B at 3 GB/s are 333,333.33.. ps; four ports serialise it, one rounding is seen.
  NicSpec nic = plain_nic();
  nic.bandwidth = gigabytes_per_second(3);
  FabricSpec one = fabric("switch", kLink);
  one.link.bandwidth = gigabytes_per_second(3);
  expect_delivered(one_gpu_nodes(2, one, nic),
                   {.tag = 1, .from_gpu = 0, .to_gpu = 1, .size = bytes(1'000)},
                   kNic + 2 * kLink + picoseconds(333'334) + kReceive);
}

TEST(TransportTime, inside_a_node_there_is_no_nic) {
  // Fully connected: one link. On a switch: two. No Ln, no R.
  expect_delivered(one_node(4, fabric("fully_connected", kLink)),
                   {.tag = 1, .from_gpu = 3, .to_gpu = 1, .size = bytes(4'096)},
                   kLink + nanoseconds(4'096));
  expect_delivered(one_node(4, fabric("switch", kLink)),
                   {.tag = 1, .from_gpu = 3, .to_gpu = 1, .size = bytes(4'096)},
                   kLink + kLink + nanoseconds(4'096));
}

TEST(TransportTime, pieces_of_a_message_travel_without_gaps) {
  // 4096 B in pieces of 1 KiB, or of 1000 B and a last one of 96: the same bytes over the same
  // idle links, so the same time.
  for (const std::int64_t piece : {1'024, 1'000, 4'096, 5'000}) {
    FabricSpec one = fabric("switch", kLink);
    one.segment = bytes(piece);
    Drive drive(one_gpu_nodes(2, one, plain_nic()));
    drive.post(SimTime{}, {.tag = 1, .from_gpu = 0, .to_gpu = 1, .size = bytes(4'096)});
    const auto pieces = static_cast<std::size_t>((4'096 + piece - 1) / piece);
    EXPECT_EQ(drive.transport().in_flight(), pieces);
    drive.run();
    EXPECT_EQ(drive.delivered(1), at(kNic + 2 * kLink + nanoseconds(4'096) + kReceive));
    EXPECT_EQ(drive.events(), pieces * 4);  // NIC, up, down, NIC
  }
}

TEST(TransportTime, a_message_as_large_as_can_be_has_the_time_of_its_bytes) {
  // 2^32 - 1 bytes, 4.29 s at 1 GB/s.
  expect_delivered(one_node(2, fabric("fully_connected", kLink)),
                   {.tag = 1, .from_gpu = 0, .to_gpu = 1, .size = bytes(UINT32_MAX)},
                   kLink + nanoseconds(UINT32_MAX));
}

TEST(TransportTime, posting_tells_the_first_link_when_it_is_free_and_whether_it_is_the_last) {
  Drive inside(one_node(3, fabric("fully_connected", kLink)));
  const Posted direct =
      inside.post(SimTime{}, {.tag = 1, .from_gpu = 0, .to_gpu = 2, .size = bytes(100)});
  EXPECT_EQ(direct.queued_at, SimTime{});
  EXPECT_EQ(direct.accepted_at, at(nanoseconds(100)));
  EXPECT_TRUE(direct.on_last_link);
  EXPECT_EQ(inside.transport().name(direct.link), "node0 0->2");

  Drive outside(one_gpu_nodes(3, fabric("switch", kLink), plain_nic()));
  const Posted put =
      outside.post(SimTime{}, {.tag = 1, .from_gpu = 2, .to_gpu = 0, .size = bytes(100)});
  EXPECT_EQ(put.accepted_at, at(nanoseconds(100)));  // left the NIC, latency or not
  EXPECT_FALSE(put.on_last_link);
  EXPECT_EQ(outside.transport().name(put.link), "nic2 send");
  EXPECT_EQ(put.wake.at, at(kNic));
}

TEST(TransportTimeDeathTest, a_message_to_oneself_or_of_nothing_aborts) {
  Drive drive(one_node(2, fabric("fully_connected", kLink)));
  EXPECT_DEATH(drive.post(SimTime{}, {.tag = 1, .from_gpu = 1, .to_gpu = 1, .size = bytes(1)}),
               "from_gpu != out.to_gpu");
  EXPECT_DEATH(drive.post(SimTime{}, {.tag = 1, .from_gpu = 0, .to_gpu = 1, .size = bytes(0)}),
               "size.count");
}

TEST(TransportTime, a_degraded_link_passes_its_bytes_as_much_slower) {
  // 0 -> 1 at a quarter of 1 byte a nanosecond; 1 -> 0 is another link.
  NetworkSpec spec = one_node(4, fabric("fully_connected", kLink));
  spec.degraded = {{.link = "node0 0->1", .bandwidth = 0.25}};
  expect_delivered(spec, {.tag = 1, .from_gpu = 0, .to_gpu = 1, .size = bytes(1'000)},
                   kLink + nanoseconds(4'000));
  expect_delivered(spec, {.tag = 2, .from_gpu = 1, .to_gpu = 0, .size = bytes(1'000)},
                   kLink + nanoseconds(1'000));
}

TEST(TransportTime, a_copy_engine_feels_a_degraded_link_as_stores_do) {
  FabricSpec links = fabric("fully_connected", kLink);
  links.link.engine_ratio = 2;
  NetworkSpec spec = one_node(4, links);
  spec.degraded = {{.link = "node0 0->1", .bandwidth = 0.25}};
  Outgoing copy{.tag = 1, .from_gpu = 0, .to_gpu = 1, .size = bytes(1'000)};
  copy.from_engine = true;
  expect_delivered(spec, copy, kLink + nanoseconds(2'000));
}

TEST(TransportTime, a_degraded_port_of_a_nic_slows_what_leaves_by_it) {
  NetworkSpec spec = one_gpu_nodes(4, fabric("switch", kLink), plain_nic());
  spec.degraded = {{.link = "nic2 send", .bandwidth = 0.5}};
  expect_delivered(spec, {.tag = 1, .from_gpu = 2, .to_gpu = 0, .size = bytes(1'000)},
                   kNic + kLink + kLink + nanoseconds(2'000) + kReceive);
  expect_delivered(spec, {.tag = 2, .from_gpu = 0, .to_gpu = 2, .size = bytes(1'000)},
                   kNic + kLink + kLink + nanoseconds(1'000) + kReceive);
}

TEST(Transport, finds_its_links_by_their_names) {
  NetworkSpec spec = one_gpu_nodes(4, fabric("switch", kLink), plain_nic());
  spec.gpus_per_node = 2;
  spec.scale_up = fabric("fully_connected", kLink);
  const Transport transport(spec);
  for (std::uint32_t i = 0; i < transport.links(); ++i) {
    EXPECT_EQ(transport.named(transport.name(LinkId(i))), LinkId(i));
  }
  EXPECT_TRUE(transport.named("nic4 send").is_none());
  EXPECT_EQ(transport.node_of(transport.named("node3 0->1")), 3U);
  EXPECT_EQ(transport.node_of(transport.named("nic3 send")), std::nullopt);
}

TEST(Transport, knows_which_links_all_that_is_sent_passes) {
  const auto only = [](const NetworkSpec& spec, const char* name) {
    const Transport transport(spec);
    return transport.is_only_way_out(transport.named(name));
  };
  EXPECT_FALSE(only(one_node(4, fabric("fully_connected", kLink)), "node0 0->1"));
  const NetworkSpec on_switch = one_node(4, fabric("switch", kLink));
  EXPECT_TRUE(only(on_switch, "node0 1->4"));
  EXPECT_FALSE(only(on_switch, "node0 4->1"));
  const NetworkSpec nodes = one_gpu_nodes(4, fabric("switch", kLink), plain_nic());
  EXPECT_TRUE(only(nodes, "nic2 send"));
  EXPECT_FALSE(only(nodes, "nic2 receive"));
  EXPECT_TRUE(only(nodes, "2->4"));
}

TEST(Transport, takes_the_same_way_some_nodes_further_on) {
  // Fat tree, 2 nodes a leaf, 4 leaves; by destination: the spines take turns.
  const FabricSpec tree = fabric("fat_tree, endpoints_per_leaf: 2", kLink);
  const NetworkSpec spec = one_gpu_nodes(8, tree, plain_nic());
  EXPECT_TRUE(Transport::can_move(spec, 2));
  EXPECT_FALSE(Transport::can_move(spec, 1));
  for (const std::uint32_t to : {1U, 2U, 3U}) {
    Drive here(spec);
    here.post(SimTime{}, {.tag = 1, .from_gpu = 0, .to_gpu = to, .size = bytes(1'000)});
    here.run();
    Drive there(spec);
    there.post(SimTime{}, {.tag = 1, .from_gpu = 4, .to_gpu = to + 4, .size = bytes(1'000)});
    there.run();
    for (std::uint32_t i = 0; i < here.transport().links(); ++i) {
      if (here.transport().use(LinkId(i)).messages == 0) continue;
      EXPECT_EQ(there.transport().use(here.transport().moved(LinkId(i), 4)).messages, 1U) << i;
    }
  }
}

}  // namespace
}  // namespace weft::transport_time_test
