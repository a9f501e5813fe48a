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

// Per send 20 B, a latch of 8 B in the graph and 8 in the engine, an event of 16 B, and a ring's
// place of 32 B that may be half empty.
TEST(RunMemory, has_room_for_all_messages_at_a_time) {
  const Cluster cluster = build_cluster(scenario_of_file("scenarios/peers_ring_128.yaml").cluster);
  EXPECT_EQ(bytes_of(cluster, {.sends = kSends, .bytes = kSends}),
            kSends * (20 + 8 + 8 + 16 + 2 * 32));
}

// What is not on its way has a latch of its arrival instead; what is, a place on each of 8 links.
TEST(RunMemory, has_no_room_for_messages_that_follow_from_others) {
  const Cluster cluster = build_cluster(scenario_of_file("scenarios/peers_ring_128.yaml").cluster);
  constexpr double kAtATime = 1'000;
  EXPECT_EQ(bytes_of(cluster, {.sends = kSends, .bytes = kSends, .at_rest = kSends - kAtATime}),
            kSends * (20 + 8 + 8) + (kSends - kAtATime) * (8 + 8) + kAtATime * 8 * (16 + 2 * 32));
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
  EXPECT_EQ(most_on_their_way(made.graph), 4U);
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
  EXPECT_EQ(most_on_their_way(graph), 256U);
}

}  // namespace
}  // namespace weft::run_memory_test
