// Laws of whole exchanges: every byte over every hop, nothing left behind, closed forms of the
// all-to-all on idle networks, and which NIC carries what.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/core/rng.h"
#include "tests/unit/network/drive.h"

namespace weft::transport_law_test {
namespace {

constexpr Duration kLink = nanoseconds(700);
constexpr Duration kNic = nanoseconds(600);
constexpr Duration kReceive = nanoseconds(50);

// What all links together carried.
Bytes carried(const Transport& transport) {
  Bytes sum;
  for (std::uint32_t i = 0; i < transport.links(); ++i) sum += transport.use(LinkId(i)).carried;
  return sum;
}

std::vector<NetworkSpec> networks() {
  FabricSpec torus = fabric("torus, dims: [4, 3]", kLink);
  FabricSpec cut = torus;
  cut.segment = bytes(300);
  const FabricSpec tree = fabric("fat_tree, endpoints_per_leaf: 3, up_routing: spray", kLink);
  NicSpec slow = plain_nic();
  slow.bandwidth = gigabytes_per_second(2);
  slow.queue_depth = 4;
  slow.message_interval = nanoseconds(40);
  return {one_gpu_nodes(12, fabric("switch", kLink), plain_nic()),
          one_gpu_nodes(12, fabric("fully_connected", kLink), slow), one_gpu_nodes(12, torus, slow),
          one_gpu_nodes(12, cut, plain_nic()), one_gpu_nodes(12, tree, slow)};
}

TEST(TransportLaw, every_byte_crosses_every_hop_of_its_way_and_arrives_once) {
  for (const NetworkSpec& spec : networks()) {
    Drive drive(spec);
    const Shape& shape = *drive.transport().scale_out();
    SCOPED_TRACE(shape.description());
    Rng rng(1, "test/transport");
    Bytes expected;
    SimTime now;
    for (std::uint32_t tag = 0; tag < 400; ++tag) {
      const auto from = static_cast<std::uint32_t>(rng.between(0, 11));
      const auto to = (from + static_cast<std::uint32_t>(rng.between(1, 11))) % 12;
      const Bytes size = bytes(rng.between(1, 1'000));
      now += picoseconds(rng.between(0, 100'000));
      drive.post(now, {.tag = tag, .from_gpu = from, .to_gpu = to, .size = size});
      // Sprayed routes differ but are equally long. Two ports more: the NICs'.
      expected += size * (shape.hops(from, to, 0) + 2);
    }
    drive.run();
    EXPECT_EQ(carried(drive.transport()), expected);
    EXPECT_EQ(drive.order().size(), 400U);
    EXPECT_EQ(drive.transport().in_flight(), 0U);
  }
}

TEST(TransportLaw, no_message_is_faster_than_alone_and_no_link_is_busier_than_time_passed) {
  for (const NetworkSpec& spec : networks()) {
    Drive drive(spec);
    const Shape& shape = *drive.transport().scale_out();
    SCOPED_TRACE(shape.description());
    Rng rng(2, "test/transport");
    std::vector<SimTime> earliest;
    for (std::uint32_t tag = 0; tag < 400; ++tag) {
      const auto from = static_cast<std::uint32_t>(rng.between(0, 11));
      const auto to = (from + static_cast<std::uint32_t>(rng.between(1, 11))) % 12;
      const Bytes size = bytes(rng.between(1, 1'000));
      const SimTime now = at(nanoseconds(10) * tag);
      drive.post(now, {.tag = tag, .from_gpu = from, .to_gpu = to, .size = size});
      earliest.push_back(now + kNic + shape.hops(from, to, 0) * kLink + kReceive +
                         transfer_time(size, gigabytes_per_second(1)));  // the links' rate
    }
    drive.run();
    SimTime end;
    for (std::uint32_t tag = 0; tag < 400; ++tag) {
      EXPECT_GE(drive.delivered(tag), earliest[tag]) << tag;
      end = later(end, drive.delivered(tag));
    }
    for (std::uint32_t i = 0; i < drive.transport().links(); ++i) {
      EXPECT_LE(drive.transport().use(LinkId(i)).busy, end - SimTime{});
    }
  }
}

// Everyone sends S bytes to own + 1, own + 2, ... at once; when the last one is there.
SimTime all_to_all(const NetworkSpec& spec, std::uint32_t gpus, Bytes size) {
  Drive drive(spec);
  for (std::uint32_t from = 0; from < gpus; ++from) {
    for (std::uint32_t step = 1; step < gpus; ++step) {
      drive.post(SimTime{}, {.tag = from * gpus + step,
                             .from_gpu = from,
                             .to_gpu = (from + step) % gpus,
                             .size = size});
    }
  }
  drive.run();
  EXPECT_EQ(drive.order().size(), std::size_t{gpus} * (gpus - 1));
  SimTime end;
  for (const std::uint32_t tag : drive.order()) end = later(end, drive.delivered(tag));
  return end;
}

TEST(TransportLaw, an_all_to_all_on_a_switch_takes_the_time_of_what_one_port_sends) {
  // In step k everyone sends to own + k: a permutation, so nobody meets anybody:
  // Ln + 2 L + R + (n - 1) S / r, exactly.
  for (const std::uint32_t n : {2U, 3U, 8U, 32U}) {
    const NetworkSpec spec =
        one_gpu_nodes(static_cast<int>(n), fabric("switch", kLink), plain_nic());
    EXPECT_EQ(all_to_all(spec, n, bytes(2'000)),
              at(kNic + 2 * kLink + kReceive + nanoseconds(2'000) * (n - 1)));
  }
}

TEST(TransportLaw, an_all_to_all_on_a_full_mesh_takes_the_time_of_one_message) {
  // A link for each pair: L + S / r.
  for (const int n : {2, 4, 8}) {
    EXPECT_EQ(all_to_all(one_node(n, fabric("fully_connected", kLink)),
                         static_cast<std::uint32_t>(n), bytes(2'000)),
              at(kLink + nanoseconds(2'000)));
  }
}

TEST(TransportLaw, an_all_to_all_on_a_torus_is_never_faster_than_its_busiest_link) {
  // Split ties load the links in x of 8 x 4 with 8 x 8 / 8 x 4 = 32 messages each: 32 S / r after
  // the first head and before the last latency. Each NIC sends 31: less.
  FabricSpec torus = fabric("torus, dims: [8, 4]", kLink);
  NicSpec nic = plain_nic();
  nic.bandwidth = gigabytes_per_second(100);
  const SimTime end = all_to_all(one_gpu_nodes(32, torus, nic), 32, bytes(2'000));
  EXPECT_GE(end, at(kNic + kLink + kReceive + nanoseconds(2'000) * 32));
  EXPECT_LE(end, at((kNic + kLink + kReceive + nanoseconds(2'000) * 32) * 2));
}

TEST(TransportLaw, inside_a_node_messages_use_its_own_links_and_none_of_another_node) {
  NetworkSpec spec = one_gpu_nodes(2, fabric("switch", kLink), plain_nic());
  spec.gpus_per_node = 4;
  spec.scale_up = fabric("fully_connected", kLink);
  Drive drive(spec);
  drive.post(SimTime{}, {.tag = 1, .from_gpu = 5, .to_gpu = 6, .size = bytes(64)});
  drive.run();
  const Transport& transport = drive.transport();
  EXPECT_TRUE(transport.same_node(5, 6));
  EXPECT_FALSE(transport.same_node(3, 4));
  for (std::uint32_t i = 0; i < transport.links(); ++i) {
    const bool used = transport.use(LinkId(i)).messages > 0;
    EXPECT_EQ(used, transport.name(LinkId(i)) == "node1 1->2") << transport.name(LinkId(i));
    if (used) {
      EXPECT_EQ(transport.link_class(LinkId(i)), "scale_up_direct");
    }
  }
}

TEST(TransportLaw, few_nics_are_shared_and_many_are_taken_in_turn) {
  NetworkSpec spec = one_gpu_nodes(2, fabric("switch", kLink), plain_nic());
  spec.gpus_per_node = 4;
  spec.scale_up = fabric("fully_connected", kLink);
  // 2 NICs for 4 GPUs: GPUs 0 and 1 have the first of their node, 2 and 3 the second.
  spec.nic->per_node = 2;
  const Transport few(spec);
  const std::vector<std::uint32_t> expected = {0, 0, 1, 1, 2, 2, 3, 3};
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) EXPECT_EQ(few.nic_of(gpu, 77), expected[gpu]);
  // 8 NICs for 4 GPUs: two each, by the message's number.
  spec.nic->per_node = 8;
  const Transport many(spec);
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    EXPECT_EQ(many.nic_of(gpu, 4), 2 * gpu);
    EXPECT_EQ(many.nic_of(gpu, 5), 2 * gpu + 1);
  }
}

TEST(TransportLaw, gpus_that_share_a_nic_share_its_rate) {
  // Two GPUs, one NIC, 1000 B each to another node: the second leaves behind the first.
  NetworkSpec spec = one_gpu_nodes(3, fabric("switch", kLink), plain_nic());
  spec.gpus_per_node = 2;
  spec.scale_up = fabric("fully_connected", kLink);
  Drive drive(spec);
  drive.post(SimTime{}, {.tag = 1, .from_gpu = 0, .to_gpu = 2, .size = bytes(1'000)});
  drive.post(SimTime{}, {.tag = 2, .from_gpu = 1, .to_gpu = 4, .size = bytes(1'000)});
  drive.run();
  EXPECT_EQ(drive.delivered(2), at(kNic + 2 * kLink + kReceive + nanoseconds(2'000)));
}

TEST(TransportLaw, sprayed_messages_of_one_pair_use_all_spines_and_fixed_routes_one) {
  for (const std::string routing : {"by_destination", "ecmp", "spray"}) {
    const FabricSpec tree =
        fabric("fat_tree, endpoints_per_leaf: 4, up_routing: " + routing, kLink);
    Drive drive(one_gpu_nodes(8, tree, plain_nic()));
    for (std::uint32_t tag = 0; tag < 200; ++tag) {
      drive.post(SimTime{}, {.tag = tag, .from_gpu = 0, .to_gpu = 5, .size = bytes(10)});
    }
    drive.run();
    int spines = 0;
    for (std::uint32_t i = 0; i < drive.transport().links(); ++i) {
      const bool leaf_up = drive.transport().link_class(LinkId(i)) == "scale_out_leaf_up";
      if (leaf_up && drive.transport().use(LinkId(i)).messages > 0) ++spines;
    }
    // 200 messages leave one of 4 spines out with a chance of 4 x 0.75^200 = 4e-25.
    EXPECT_EQ(spines, routing == "spray" ? 4 : 1);
  }
}

TEST(TransportLaw, links_have_names_and_classes_for_reports) {
  FabricSpec torus = fabric("torus, dims: [3]", kLink);
  const Transport transport(one_gpu_nodes(3, torus, plain_nic()));
  std::map<std::string, int> classes;
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < transport.links(); ++i) {
    classes[transport.link_class(LinkId(i))] += 1;
    names.insert(transport.name(LinkId(i)));
    EXPECT_EQ(transport.bandwidth(LinkId(i)), gigabytes_per_second(1));
  }
  const std::map<std::string, int> expected = {
      {"scale_out_x+", 3}, {"scale_out_x-", 3}, {"nic_send", 3}, {"nic_receive", 3}};
  EXPECT_EQ(classes, expected);
  EXPECT_EQ(names.size(), transport.links());
  EXPECT_EQ(names.count("0->1"), 1U);
  EXPECT_EQ(names.count("nic2 receive"), 1U);
}

}  // namespace
}  // namespace weft::transport_law_test
