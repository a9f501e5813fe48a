// The all-to-all of idle GPUs on an idle network, against what its links allow. S is the size of a
// pair's message, B a link's bandwidth, L its latency, n the GPUs. The GPUs are ideal: what they
// add is the copy of the first message at 1000 TB/s, far below a microsecond: of S between nodes,
// of the first of four parts inside one, for there a channel streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/unit/engine/simulated.h"

namespace weft::all_to_all_time_test {
namespace {

constexpr Bandwidth kLink = gigabytes_per_second(25);  // 40 ps a byte
constexpr Duration kLatency = nanoseconds(700);

Scenario on_nodes(int nodes, const std::string& shape, Bytes size) {
  return scenario_of(R"(
name: all-to-all
cluster:
  name: nodes
  nodes: )" + std::to_string(nodes) +
                     R"(
  gpus_per_node: 1
  gpu: {base: gpus/ideal, cus: 4, collective: {channels: 1}}
  scale_out: {)" + shape +
                     R"(, link: {bandwidth: 25 GB/s, latency: 700 ns}}
  nic: {base: nics/ideal, bandwidth: 25 GB/s}
workload: {kind: collective, op: all_to_all, bytes: )" +
                     std::to_string(size.count() * nodes) + " B}\n");
}

Scenario in_one_node(int gpus, const std::string& shape, Bytes size, int channels) {
  return scenario_of(R"(
name: all-to-all
cluster:
  name: node
  nodes: 1
  gpus_per_node: )" + std::to_string(gpus) +
                     R"(
  gpu: {base: gpus/ideal, cus: 16, collective: {channels: )" +
                     std::to_string(channels) + R"(}}
  scale_up: {shape: )" +
                     shape + R"(, link: {bandwidth: 25 GB/s, latency: 700 ns}}
workload: {kind: collective, op: all_to_all, bytes: )" +
                     std::to_string(size.count() * gpus) + " B}\n");
}

// Most bytes that a link of `link_class` carried.
Bytes most_carried(const RunResult& result, const std::string& link_class) {
  Bytes most;
  for (const LinkRow& row : result.links) {
    if (row.link_class == link_class) most = std::max(most, row.use.carried);
  }
  return most;
}

// `bytes` over one link, at least, and at most `over` thousandths more.
void expect_link_bound(const RunResult& result, Bytes on_busiest_link, int over) {
  const Duration bound = transfer_time(on_busiest_link, kLink);
  EXPECT_GE(result.time, bound);
  EXPECT_LE(result.time.count(), bound.count() / 1000 * (1000 + over));
}

TEST(AllToAllTime, pairs_with_links_of_their_own_take_one_transfer) {
  // Fully connected, a channel for every peer: copy, S/B on a link that nobody shares, L.
  //   1 MB: 250 ps + 40 us + 700 ns = 40.70025 us
  const RunResult result = run(in_one_node(8, "fully_connected", bytes(1'000'000), 7));
  EXPECT_EQ(result.time, picoseconds(40'700'250));
}

TEST(AllToAllTime, one_channel_serves_its_peers_one_after_the_other) {
  // The next store begins when the one before has left: copy, then 7 x S/B, then L.
  const RunResult result = run(in_one_node(8, "fully_connected", bytes(1'000'000), 1));
  EXPECT_EQ(result.time, picoseconds(250) + microseconds(40) * 7 + kLatency);
}

TEST(AllToAllTime, a_switch_in_the_node_is_full_at_every_port) {
  // In every step all GPUs send to different ones, so no message waits at a port down: the port up
  // carries n - 1 messages back to back, the last one crosses the switch: (n-1) S/B + 2 L.
  const RunResult result = run(in_one_node(8, "switch", bytes(1'000'000), 1));
  EXPECT_EQ(result.time, picoseconds(250) + microseconds(40) * 7 + kLatency * 2);
}

TEST(AllToAllTime, a_switch_between_nodes_is_full_at_every_port) {
  // As above, with the NIC's ports before and behind, which cost no more: (n-1) S/B + 2 L.
  //   n = 16, 64 KiB: 15 x 2,621,440 ps + 1.4 us = 40.7216 us, and 66 ps of the copy
  const RunResult result = run(on_nodes(16, "shape: switch", kibibytes(64)));
  EXPECT_EQ(result.time, picoseconds(15LL * 2'621'440 + 1'400'000 + 66));
}

TEST(AllToAllTime, a_ring_of_three_is_three_direct_neighbours) {
  // Either neighbour has a link of its own; the NIC sends both: 2 S/B, L.
  const RunResult result = run(on_nodes(3, "shape: ring", bytes(1'000'000)));
  EXPECT_EQ(result.time, nanoseconds(1) + microseconds(40) * 2 + kLatency);
}

TEST(AllToAllTime, a_ring_is_as_fast_as_its_links) {
  // Ties split: each direction of a link carries sum of h for h < n/2, and n/4 of the ties:
  //   (n/2 - 1)(n/2)/2 + n/4 = n^2/8 messages. Bound n^2/8 S/B; 15 % for filling and emptying: a
  //   message or two of the n^2/8.
  for (const int n : {8, 16, 32}) {
    const Bytes size = kibibytes(256);
    const RunResult result = run(on_nodes(n, "shape: ring", size));
    EXPECT_EQ(most_carried(result, "scale_out_x+"), size * (n * n / 8)) << n;
    EXPECT_EQ(most_carried(result, "scale_out_x-"), size * (n * n / 8)) << n;
    expect_link_bound(result, size * (n * n / 8), 150);
  }
}

TEST(AllToAllTime, ties_all_one_way_load_that_way_more) {
  // Positive ties: x+ carries n/2 messages of ties instead of n/4: n^2/8 + n/4; x- n^2/8 - n/4.
  const Bytes size = kibibytes(256);
  const RunResult result = run(on_nodes(16, "shape: ring, ring_ties: positive", size));
  EXPECT_EQ(most_carried(result, "scale_out_x+"), size * 36);
  EXPECT_EQ(most_carried(result, "scale_out_x-"), size * 28);
  expect_link_bound(result, size * 36, 120);
}

TEST(AllToAllTime, an_8x8_torus_is_as_fast_as_its_links) {
  // x links: 8 rows of sources x n^2/8 = 8 -> 64 messages; y links the same. The NIC: 63.
  // Bound 64 S/B; 15 % for messages that wait for one another.
  const Bytes size = kibibytes(256);
  const RunResult result = run(on_nodes(64, "shape: torus, dims: [8, 8]", size));
  for (const char* link : {"scale_out_x+", "scale_out_x-", "scale_out_y+", "scale_out_y-"}) {
    EXPECT_EQ(most_carried(result, link), size * 64) << link;
  }
  expect_link_bound(result, size * 64, 150);
}

TEST(AllToAllTime, a_16x8_torus_is_as_fast_as_its_long_dimension) {
  // x links, rings of 16: 16^2/8 = 32 messages for each of 8 destination rows: 256.
  // y links, rings of 8: 8^2/8 = 8 for each of 16 columns: 128. Bound 256 S/B; 15 %.
  const Bytes size = kibibytes(256);
  const RunResult result = run(on_nodes(128, "shape: torus, dims: [16, 8]", size));
  EXPECT_EQ(most_carried(result, "scale_out_x+"), size * 256);
  EXPECT_EQ(most_carried(result, "scale_out_y-"), size * 128);
  expect_link_bound(result, size * 256, 150);
}

TEST(AllToAllTime, no_torus_is_faster_than_bytes_times_hops_allow) {
  // All bytes x mean hops over all link directions together: the looser bound.
  //   4 x 4 x 4: mean hops 3 x 1 (of all 64 destinations), 6 link directions a node:
  //   64 x 3 / 6 = 32 messages a link; the NIC sends 63, so it is the bound. 15 %.
  const Bytes size = kibibytes(256);
  const RunResult result = run(on_nodes(64, "shape: torus, dims: [4, 4, 4]", size));
  EXPECT_EQ(most_carried(result, "scale_out_z-"), size * 32);
  expect_link_bound(result, size * 63, 150);
}

TEST(AllToAllTime, a_3_d_torus_whose_nics_are_wide_is_as_fast_as_its_links) {
  // The same with NICs of six links: 32 S/B, then 20 %: three turns instead of one.
  const Bytes size = kibibytes(256);
  Scenario scenario = on_nodes(64, "shape: torus, dims: [4, 4, 4]", size);
  scenario.cluster.nic->bandwidth = gigabytes_per_second(150);
  expect_link_bound(run(scenario), size * 32, 200);
}

TEST(AllToAllTime, a_fat_tree_that_never_blocks_is_a_switch) {
  // 4 leaves of 8, 8 spines: 8 x 24 / 8 = 24 messages on each link up, 31 at each NIC.
  // Bound 31 S/B; 15 % where fixed routes of several sources meet on a link up.
  const Bytes size = kibibytes(256);
  const RunResult result = run(on_nodes(32, "shape: fat_tree, endpoints_per_leaf: 8", size));
  EXPECT_EQ(most_carried(result, "scale_out_leaf_up"), size * 24);
  expect_link_bound(result, size * 31, 150);
}

TEST(AllToAllTime, two_to_one_oversubscription_doubles_the_load_of_links_up) {
  // Half of the spines: 8 x 24 / 4 = 48 messages on each link up, which is now the bound.
  const Bytes size = kibibytes(256);
  const RunResult result =
      run(on_nodes(32, "shape: fat_tree, endpoints_per_leaf: 8, oversubscription: 2", size));
  EXPECT_EQ(most_carried(result, "scale_out_leaf_up"), size * 48);
  EXPECT_EQ(most_carried(result, "scale_out_spine_down"), size * 48);
  expect_link_bound(result, size * 48, 150);
}

TEST(AllToAllTime, a_dragonfly_of_small_groups_is_bound_by_the_links_inside_them) {
  // 3 groups of 2 routers of 2. Each global link carries 4 x 4 messages; each local one 2 x 2 of
  // its routers, 2 x 4 on their way out and 4 x 2 on their way in: 20. A NIC sends 11. One message
  // more before the link is busy or behind it, 5 %, and latencies.
  const Bytes size = kibibytes(256);
  const RunResult result =
      run(on_nodes(12,
                   "shape: dragonfly, endpoints_per_router: 2, routers_per_group: 2, "
                   "links_between_groups: 1",
                   size));
  EXPECT_EQ(most_carried(result, "scale_out_global"), size * 16);
  EXPECT_EQ(most_carried(result, "scale_out_local"), size * 20);
  expect_link_bound(result, size * 20, 100);
}

TEST(AllToAllTime, ranks_that_each_send_to_one_use_the_channels_of_point_to_point) {
  // 16 channels of 5 GB/s for one peer; of three, of which two get nothing, they would use fewer.
  const auto time = [](const std::string& what) {
    return run(scenario_of(R"(
name: to one
cluster:
  name: nodes
  nodes: 4
  gpus_per_node: 1
  gpu:
    base: gpus/ideal
    collective: {channels: 16, chunk: 512 KiB, channel_rate: 5 GB/s, exchange_rate: 5 GB/s}
  scale_out: {shape: switch, link: {bandwidth: 50 GB/s, latency: 700 ns}}
  nic: {base: nics/ideal, bandwidth: 50 GB/s}
workload: {kind: collective, )" +
                           what + "}\n"))
        .time;
  };
  EXPECT_EQ(time("op: all_to_all, matrix: [[0 B, 4 MB, 0 B, 0 B], [0 B, 0 B, 4 MB, 0 B], "
                 "[0 B, 0 B, 0 B, 4 MB], [4 MB, 0 B, 0 B, 0 B]]"),
            time("op: point_to_point, bytes: 4 MB"));
}

TEST(AllToAllTime, a_pair_of_more_than_4_gib_sends_all_of_it) {
  // 5 GB over one link of its own: 200 ms. A message's size must not be cut to 32 bits.
  const Bytes size = bytes(5'000'000'000);
  const RunResult result = run(in_one_node(2, "fully_connected", size, 1));
  EXPECT_EQ(result.gpus[0].received, size);
  EXPECT_GE(result.time, transfer_time(size, kLink));
}

}  // namespace
}  // namespace weft::all_to_all_time_test
