// Every algorithm of every collective on an idle network, against its closed form. Four ideal GPUs
// under a switch: n = 4, S the buffer, B = 25 GB/s a link, L = 700 ns a link, 2 L a message. One
// channel, so nothing is divided. What ideal GPUs add is the copies at 1000 TB/s: nanoseconds.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::collective_time_test {
namespace {

constexpr int kGpus = 4;
constexpr std::int64_t kBuffer = 1'200'000;
constexpr Duration kPath = nanoseconds(1400);

// A part of the buffer over a link.
Duration over_link(int numerator, int denominator = 1) {
  return picoseconds(kBuffer * 40 * numerator / denominator);
}

Duration time_of(const std::string& op, const std::string& algorithm,
                 const std::vector<std::string>& further = {}) {
  std::vector<std::string> sets{"workload.op=" + op, "collective.algorithm=" + algorithm};
  sets.insert(sets.end(), further.begin(), further.end());
  return run(scenario_of(R"(
name: collective
cluster:
  name: node
  nodes: 1
  gpus_per_node: 4
  gpu: {base: gpus/ideal, collective: {channels: 1}}
  scale_up: {shape: switch, link: {bandwidth: 25 GB/s, latency: 700 ns}}
workload: {kind: collective, bytes: 1200 kB}
collective: {protocol: simple}
)",
                         sets))
      .time;
}

void expect_about(Duration time, Duration closed_form) {
  EXPECT_GE(time, closed_form);
  EXPECT_LE(time, closed_form + nanoseconds(20));
}

TEST(CollectiveTime, a_ring_takes_n_minus_1_steps_of_a_block) {
  // (n-1) (S/n/B + 2 L); an all-reduce twice.
  const Duration once = (over_link(1, kGpus) + kPath) * (kGpus - 1);
  expect_about(time_of("all_gather", "ring"), once);
  expect_about(time_of("reduce_scatter", "ring"), once);
  expect_about(time_of("all_reduce", "ring"), once * 2);
}

TEST(CollectiveTime, direct_pays_the_way_once_in_each_phase) {
  // The port up carries n - 1 blocks back to back: (n-1) S/n/B + 2 L; an all-reduce twice.
  const Duration once = over_link(kGpus - 1, kGpus) + kPath;
  expect_about(time_of("all_to_all", "direct"), once);
  expect_about(time_of("all_gather", "direct"), once);
  expect_about(time_of("reduce_scatter", "direct"), once);
  expect_about(time_of("all_reduce", "direct"), once * 2);
}

TEST(CollectiveTime, one_shot_sends_everything_to_everybody) {
  // (n-1) S/B + 2 L.
  expect_about(time_of("all_reduce", "one_shot"), over_link(kGpus - 1) + kPath);
}

TEST(CollectiveTime, halving_takes_a_step_for_each_power_of_two) {
  // S/2/B + 2 L, then S/4/B + 2 L: log2(n) 2 L + (n-1)/n S/B.
  const Duration once = over_link(kGpus - 1, kGpus) + kPath * 2;
  expect_about(time_of("all_gather", "halving_doubling"), once);
  expect_about(time_of("reduce_scatter", "halving_doubling"), once);
  expect_about(time_of("all_reduce", "halving_doubling"), once * 2);
}

TEST(CollectiveTime, hierarchical_in_one_node_is_direct) {
  // All ranks are in one node, nothing is between: the direct phases.
  expect_about(time_of("all_reduce", "hierarchical"), (over_link(3, kGpus) + kPath) * 2);
}

TEST(CollectiveTime, a_broadcast_in_a_ring_is_a_pipeline) {
  // k chunks: the last rank has the last one after n - 2 + k steps of S/k/B, and 2 L for each of
  // the n - 1 messages in a row. At least three chunks (one for each step), of at least 32 KiB.
  const Duration least = over_link(1) + kPath * 3;
  EXPECT_GE(time_of("broadcast", "ring"), least);
  EXPECT_LE(time_of("broadcast", "ring"), least + over_link(2, 3) + nanoseconds(20));
}

TEST(CollectiveTime, a_broadcast_by_one_port_sends_n_minus_1_times) {
  expect_about(time_of("broadcast", "direct"), over_link(kGpus - 1) + kPath);
}

TEST(CollectiveTime, trees_pass_on_to_two_children) {
  // Of four ranks 0 has children 2 and 1 is one of 2's: no port sends more than 2 S. Down: at least
  // S and two messages in a row, at most one chunk after another: 2 steps of 2 S.
  const Duration down = time_of("broadcast", "tree");
  EXPECT_GE(down, over_link(1) + kPath * 2);
  EXPECT_LE(down, over_link(4) + kPath * 2);
  const Duration up_and_down = time_of("all_reduce", "tree");
  EXPECT_GE(up_and_down, over_link(1) + kPath * 4);
  EXPECT_LE(up_and_down, over_link(8) + kPath * 4);
}

TEST(CollectiveTime, one_pair_takes_one_transfer) {
  expect_about(time_of("point_to_point", "direct"), over_link(1) + kPath);
}

TEST(CollectiveTime, ll_puts_twice_the_bytes_on_the_wire_and_ll128_a_fifteenth_more) {
  const Duration plain = over_link(kGpus - 1, kGpus);
  expect_about(time_of("all_gather", "direct", {"collective.protocol=ll"}), plain * 2 + kPath);
  expect_about(time_of("all_gather", "direct", {"collective.protocol=ll128"}),
               over_link(16 * (kGpus - 1), 15 * kGpus) + kPath);
}

// Four ideal GPUs under a switch that adds up and copies; blocks of one piece.
RunResult in_switch(const std::string& op, const std::vector<std::string>& further = {}) {
  std::vector<std::string> sets{"workload.op=" + op};
  sets.insert(sets.end(), further.begin(), further.end());
  return run(scenario_of(R"(
name: collective
cluster:
  name: node
  nodes: 1
  gpus_per_node: 4
  gpu: {base: gpus/ideal, collective: {channels: 1}}
  scale_up: {shape: switch, reduces: true, in_switch_ratio: 1,
             link: {bandwidth: 25 GB/s, latency: 700 ns}}
workload: {kind: collective, bytes: 120 kB}
collective: {algorithm: in_switch}
)",
                         sets));
}

TEST(CollectiveTime, the_switch_copies_in_one_step) {
  // Flags 2 L, then every port down has all blocks, its own GPU's too: S/B + 2 L.
  const Duration bytes_down = nanoseconds(4800);
  expect_about(in_switch("all_gather").time, bytes_down + kPath * 2);
  expect_about(in_switch("broadcast").time, bytes_down + kPath * 2);
}

TEST(CollectiveTime, the_switch_adds_up_what_is_ready_and_asked_for) {
  // Flags 2 L, what is asked for 2 L, then every port up has all blocks: S/B + 2 L.
  const Duration bytes_up = nanoseconds(4800);
  expect_about(in_switch("reduce_scatter").time, bytes_up + kPath * 3);
  // One piece each, so the stores come when all has been loaded: S/B more. The last sum is on its
  // way (2 L + S/n/B) no longer than the ports down are busy with copies of the first ones.
  expect_about(in_switch("all_reduce").time, bytes_up * 2 + kPath * 3);
}

TEST(CollectiveTime, loads_and_stores_of_many_pieces_overlap_in_the_switch) {
  // Each port: all blocks, and 1/n of them once more: (1 + 1/n) S/B, here 6 ms.
  const Duration busy = microseconds(6000);
  const Duration time =
      in_switch("all_reduce", {"workload.bytes=120 MB", "cluster.gpu.collective.channels=16"}).time;
  EXPECT_GE(time, busy);
  EXPECT_LE(time, busy + microseconds(300));
}

TEST(CollectiveTime, links_of_a_switch_that_reduces_carry_half) {
  // Up: all blocks, the own sum, a flag of 8 B. Down: the own sum, all blocks, four flags.
  const RunResult result = in_switch("all_reduce");
  ASSERT_EQ(result.links.size(), 8U);
  for (const LinkRow& row : result.links) {
    const bool up = row.link_class == "scale_up_up";
    EXPECT_EQ(row.use.carried.count(), up ? 150'008 : 150'032) << row.name;
    EXPECT_EQ(row.use.messages, up ? 6U : 9U) << row.name;
  }
  EXPECT_TRUE(result.ledger.balanced());
  EXPECT_EQ(result.ledger.sent_bytes.done, 4 * 150'008);
  EXPECT_EQ(result.ledger.message_bytes.done, 4 * 150'032);
}

TEST(CollectiveTime, groups_under_a_switch_do_not_disturb_one_another) {
  // Two groups of two, neighbours or not: (n-1)/n S/B + 2 L each, at the same time.
  for (const char* groups : {"{size: 2}", "{size: 2, stride: 2}", "{gpus: [[3, 0], [1, 2]]}"}) {
    expect_about(time_of("all_to_all", "direct", {std::string("workload.groups=") + groups}),
                 over_link(1, 2) + kPath);
  }
}

TEST(CollectiveTime, an_uneven_all_to_all_takes_as_long_as_the_busiest_port) {
  // Rank 1 gets 2 MB and 1 MB: 3 MB x 40 ps = 120 us through its port down.
  const std::string matrix =
      "[[0 B, 2 MB, 0 B, 0 B], [0 B, 0 B, 0 B, 10 B], [0 B, 1 MB, 0 B, 0 B],"
      " [5 kB, 0 B, 0 B, 0 B]]";
  const Duration time =
      time_of("all_to_all", "direct", {"workload.bytes=~", "workload.matrix=" + matrix});
  EXPECT_GE(time, microseconds(120) + kPath);
  EXPECT_LE(time, microseconds(121) + kPath);
}

}  // namespace
}  // namespace weft::collective_time_test
