// The memory that a run is estimated to take, worked from the sizes of what it stores.
#include "sim/engine/run_memory.h"

#include <gtest/gtest.h>

#include "tests/unit/engine/simulated.h"

namespace weft::run_memory_test {
namespace {

constexpr double kSends = 1'000'000;

double bytes_of(const Cluster& cluster, const CollectiveCounts& counts) {
  return static_cast<double>(
      (memory_of_run(cluster, counts) - memory_of_run(cluster, CollectiveCounts{})).count());
}

// Per send 20 B, a latch of 8 B in the graph and 8 in the engine, an event of 16 B, and in two
// rings, that of its fast port and that of a slower link, a place of 32 B: they may be half empty.
TEST(RunMemory, has_room_for_all_messages_at_a_time) {
  const Cluster cluster = build_cluster(scenario_of_file("scenarios/peers_ring_128.yaml").cluster);
  EXPECT_EQ(bytes_of(cluster, {.sends = kSends, .bytes = kSends}),
            kSends * (20 + 8 + 8 + 16 + 2 * 2 * 32));
}

// What is not on its way has a latch of its arrival instead; what is, a place on each of 8 links.
TEST(RunMemory, has_no_room_for_messages_that_follow_from_others) {
  const Cluster cluster = build_cluster(scenario_of_file("scenarios/peers_ring_128.yaml").cluster);
  constexpr double kAtATime = 1'000;
  EXPECT_EQ(
      bytes_of(cluster, {.sends = kSends, .bytes = kSends, .at_rest = kSends - kAtATime}),
      kSends * (20 + 8 + 8) + (kSends - kAtATime) * (8 + 8) + kAtATime * 8 * (16 + 2 * 2 * 32));
}

// GPU 0 sends two messages, GPU 1 answers one of them with three, and GPU 0 one of these with
// another: of six messages two follow from one that has arrived.
TEST(RunMemory, of_a_chain_of_messages_one_is_on_its_way) {
  HandMade made;
  const std::uint32_t work = made.takes(microseconds(1));
  const LatchId last = made.graph.add_latch(1);
  const LatchId answer = made.sends({.to = 1, .size = 8, .arrives = last});
  const LatchId answered = made.graph.add_latch(3);
  const LatchId second = made.sends({.to = 0, .size = 8, .arrives = answered});
  for (int i = 0; i < 2; ++i) made.graph.add_send({.to = 0, .size = 8, .arrives = answered});
  const LatchId arrived = made.graph.add_latch(1);
  const LatchId first = made.sends({.to = 1, .size = 8, .arrives = arrived});
  made.graph.add_send({.to = 1, .size = 8});
  made.kernel(plain(0), {HandMade::item(work, first)});
  made.kernel(plain(1), {HandMade::item(work, second, arrived)});
  made.kernel(plain(0), {HandMade::item(work, answer, answered)});
  EXPECT_EQ(made.graph.sends.size(), 6U);
  const OnTheirWay most = most_on_their_way(made.graph, 2);
  EXPECT_EQ(most.in_all, 4U);
  EXPECT_EQ(most.begun_by_one, 2U);  // GPU 0 its first two, GPU 1 two of the three
}

// A ring of 128: each of its channels has sent one more than it has taken in, at most.
TEST(RunMemory, of_a_ring_each_channel_has_one_message_on_its_way) {
  const Scenario scenario = scenario_of_file(
      "scenarios/peers_ring_128.yaml",
      {"workload.op=all_reduce", "workload.bytes=1 MiB", "collective.algorithm=ring",
       "collective.channels=2", "collective.protocol=simple"});
  const Cluster cluster = build_cluster(scenario.cluster);
  const TaskGraph graph = lower(scenario, cluster, Mode::bulk);
  EXPECT_EQ(graph.sends.size() % 256, 0U);
  EXPECT_GT(graph.sends.size(), 256U);
  const OnTheirWay most = most_on_their_way(graph, cluster.gpus());
  EXPECT_EQ(most.in_all, 256U);
  EXPECT_EQ(most.begun_by_one, 2U);
}

// GPU 0 sends 1,000 messages at once, and each of the others but the last, which are late by more
// and more, sends on all that has come as soon as it begins: a message waits for 999 others of 10
// ps at each of 127 ports, and on the link behind it while they take 40 ns. All these rings, of
// 1,024 places of 32 B, stay, though no more than one message of each chain is on its way.
TEST(RunMemory, has_room_for_a_burst_at_each_link_that_it_passes) {
  constexpr std::uint32_t kMessages = 1'000;
  constexpr std::uint32_t kGpus = 128;
  const Scenario scenario = scenario_of_file("scenarios/peers_ring_128.yaml");
  const Cluster cluster = build_cluster(scenario.cluster);
  HandMade made;
  const std::uint32_t work = made.takes(picoseconds(0));
  const std::uint32_t late = made.takes(microseconds(1'000));
  std::vector<LatchId> arrived(kMessages);
  for (LatchId& latch : arrived) latch = made.graph.add_latch(1);
  std::vector<std::vector<Item>> items(kGpus);
  for (std::uint32_t gpu = kGpus - 1; gpu-- > 0;) {
    std::vector<LatchId> before(kMessages, LatchId::none());
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      const LatchId sends = made.sends({.to = gpu + 1, .size = 1'000, .arrives = arrived[i]});
      if (gpu > 0) before[i] = made.graph.add_latch(1);
      items[gpu].push_back(HandMade::item(work, sends, before[i]));
    }
    arrived = before;
  }
  std::vector<KernelId> after;
  for (std::uint32_t gpu = 0; gpu + 1 < kGpus; ++gpu) {
    after = {made.kernel(plain(gpu), {HandMade::item(late)}, after)};
    made.kernel(plain(gpu), items[gpu], after);
  }
  const OnTheirWay most = most_on_their_way(made.graph, kGpus);
  EXPECT_EQ(most.in_all, kMessages);
  EXPECT_EQ(most.begun_by_one, kMessages);

  const RunResult result = run(scenario, made.graph);
  std::uint32_t full = 0;
  for (const LinkRow& link : result.links) {
    if (link.use.messages == 0 || link.link_class == "nic_receive") continue;
    const bool port = link.link_class == "nic_send";
    EXPECT_EQ(link.use.queued_max, picoseconds(999 * (port ? 10 : 40'000 - 10))) << link.name;
    ++full;
  }
  EXPECT_EQ(full, 2 * (kGpus - 1));
  constexpr double kSent = kMessages * (kGpus - 1.0);
  const double estimated = static_cast<double>(memory_of_run(cluster, made.graph).count());
  const double without = static_cast<double>(memory_of_run(cluster, CollectiveCounts{}).count());
  EXPECT_GE(estimated - without, kSent * (20 + 8 + 8) + full * 1024.0 * 32);
}

}  // namespace
}  // namespace weft::run_memory_test
