// Messages between nodes: the NIC's queue and rate, the proxy, the entries of a put. All WGs of
// two_nodes(): 25 GB/s (1 MB is 40 us), 300 ns up to the switch and 300 ns down.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/engine/simulated.h"

namespace weft::nic_and_proxy_test {
namespace {

constexpr Duration kPath = nanoseconds(600);

std::size_t index_of(Wait wait) { return static_cast<std::size_t>(wait); }

// One WG of GPU 0 that `count` times works and then sends `size` to GPU 1, whose kernel ends when
// all is there.
TaskGraph sender(Duration work, std::uint32_t count, std::uint32_t size, InitiatedBy by,
                 std::uint16_t entries = 1, Duration flag = {}) {
  HandMade made;
  const std::uint32_t index = made.takes(work);
  const std::uint32_t nothing = made.takes({});
  const LatchId arrived = made.graph.add_latch(count);
  std::vector<Item> items;
  for (std::uint32_t i = 0; i < count; ++i) {
    items.push_back(HandMade::item(
        index, made.sends({.to = 1, .size = size, .arrives = arrived, .entries = entries})));
  }
  Kernel from = persistent(0, 1);
  from.puts_by = by;
  made.kernel(from, items);
  Kernel to = persistent(1, 1);
  to.finish = arrived;
  to.flag = flag;
  made.kernel(to, {HandMade::item(nothing)});
  return made.graph;
}

TEST(NicQueue, that_is_full_stalls_the_wg) {
  // Depth 1, 1 MB each 1 us: message i is taken when message i - 1 has left at 1 us + 40 us x i.
  // The WG then works 1 us and waits 39 us, for each message but the first: 4 x 39 us.
  const Scenario scenario = two_nodes({"cluster.nic.queue_depth=1"});
  const RunResult result = run(scenario, sender(microseconds(1), 5, 1'000'000, InitiatedBy::gpu));
  EXPECT_EQ(result.gpus[0].waits[index_of(Wait::nic_queue)], microseconds(4 * 39));
  EXPECT_EQ(result.gpus[0].end, SimTime{} + microseconds(1 + 4 * 40));
  EXPECT_EQ(result.time, microseconds(1 + 5 * 40) + kPath);
}

TEST(NicQueue, with_room_stalls_nobody) {
  // Depth 5: the WG is through at 5 us; the NIC sends back to back from 1 us on.
  const Scenario scenario = two_nodes({"cluster.nic.queue_depth=5"});
  const RunResult result = run(scenario, sender(microseconds(1), 5, 1'000'000, InitiatedBy::gpu));
  EXPECT_EQ(result.gpus[0].waits[index_of(Wait::nic_queue)], Duration{});
  EXPECT_EQ(result.gpus[0].end, SimTime{} + microseconds(5));
  EXPECT_EQ(result.time, microseconds(1 + 5 * 40) + kPath);
}

TEST(NicQueue, takes_the_entries_of_a_put_together) {
  // Depth 3, puts of 3 entries: one put at a time, as with depth 1 and one entry.
  const Scenario scenario = two_nodes({"cluster.nic.queue_depth=3"});
  const RunResult result =
      run(scenario, sender(microseconds(1), 5, 1'000'000, InitiatedBy::gpu, 3));
  EXPECT_EQ(result.gpus[0].waits[index_of(Wait::nic_queue)], microseconds(4 * 39));
}

TEST(Nic, small_messages_leave_at_its_message_rate) {
  // 1 M/s: one entry a microsecond, however small. 5 at once: the last starts at 4 us, 25 B are 1
  // ns.
  const Scenario scenario = two_nodes({"cluster.nic.message_rate=1 M/s"});
  const RunResult result = run(scenario, sender({}, 5, 25, InitiatedBy::gpu));
  EXPECT_EQ(result.time, nanoseconds(4001) + kPath);
}

TEST(Nic, its_latencies_come_on_top_once) {
  // 2 us to the wire, 3 us from the wire into memory, 4 us until the poll sees it.
  const Scenario scenario = two_nodes({"cluster.nic.latency=2 us", "cluster.nic.receive=3 us"});
  const RunResult result =
      run(scenario, sender({}, 1, 1'000'000, InitiatedBy::gpu, 1, microseconds(4)));
  EXPECT_EQ(result.time, microseconds(2 + 40 + 3 + 4) + kPath);
}

TEST(Nic, a_put_costs_the_wg_its_flush_and_a_post_per_entry) {
  // Flush 2 us, post 1 us, three entries: 5 us before each put; two puts.
  const Scenario scenario = two_nodes({"cluster.nic.flush=2 us", "cluster.nic.post=1 us"});
  const RunResult result = run(scenario, sender(microseconds(10), 2, 250, InitiatedBy::gpu, 3));
  EXPECT_EQ(result.gpus[0].end, SimTime{} + microseconds(2 * 15));
  EXPECT_EQ(result.gpus[0].waits[index_of(Wait::post)], microseconds(2 * 5));
  EXPECT_EQ(result.time, microseconds(2 * 15) + nanoseconds(10) + kPath);
}

TEST(Proxy, is_one_thread_that_does_one_operation_after_another) {
  // 6 sends of 25 B at 0, 1 us each: posted at 1 .. 6 us, the last takes 1 ns on the wire.
  const Scenario scenario = two_nodes({"cluster.nic.proxy_operation=1 us"});
  const RunResult result = run(scenario, sender({}, 6, 25, InitiatedBy::proxy));
  EXPECT_EQ(result.time, microseconds(6) + nanoseconds(1) + kPath);
  EXPECT_EQ(result.gpus[0].end, SimTime{});  // the WG hands over and goes on
}

TEST(Proxy, does_an_operation_for_every_entry) {
  const Scenario scenario = two_nodes({"cluster.nic.proxy_operation=1 us"});
  const RunResult result = run(scenario, sender({}, 6, 25, InitiatedBy::proxy, 3));
  EXPECT_EQ(result.time, microseconds(18) + nanoseconds(1) + kPath);
}

TEST(Proxy, that_is_idle_starts_when_it_is_asked) {
  // A send every 10 us of work, an operation of 1 us: never two to do.
  const Scenario scenario = two_nodes({"cluster.nic.proxy_operation=1 us"});
  const RunResult result = run(scenario, sender(microseconds(10), 6, 25, InitiatedBy::proxy));
  EXPECT_EQ(result.time, microseconds(61) + nanoseconds(1) + kPath);
}

TEST(Proxy, takes_up_what_it_is_told_a_handover_later) {
  // Told of 6 sends at 0, it sees them at 5 us and does them one after another: the handovers
  // overlap.
  const Scenario scenario = two_nodes({"cluster.nic.proxy_operation=1 us"});
  TaskGraph graph = sender({}, 6, 25, InitiatedBy::proxy);
  graph.kernels[KernelId(0)].handover = microseconds(5);
  EXPECT_EQ(run(scenario, graph).time, microseconds(5 + 6) + nanoseconds(1) + kPath);
  // A send every 10 us of work, each with a handover and an operation of its own.
  graph = sender(microseconds(10), 6, 25, InitiatedBy::proxy);
  graph.kernels[KernelId(0)].handover = microseconds(5);
  EXPECT_EQ(run(scenario, graph).time, microseconds(60 + 5 + 1) + nanoseconds(1) + kPath);
}

TEST(Proxy, is_held_by_a_full_queue_together_with_all_behind) {
  // Depth 1, operations of 1 us, 1 MB: posted at 1 us; the second is ready at 2 us but has room at
  // 41 us; the third's operation takes 41 to 42 us, room at 81 us: the NIC is never idle.
  const Scenario scenario =
      two_nodes({"cluster.nic.proxy_operation=1 us", "cluster.nic.queue_depth=1"});
  const RunResult result = run(scenario, sender({}, 3, 1'000'000, InitiatedBy::proxy));
  EXPECT_EQ(result.time, microseconds(1 + 3 * 40) + kPath);
}

// The lowered fused embedding on the two nodes: 8 slices of one WG for the peer.
Duration fused_time(const std::string& flag_per, std::uint64_t& messages, Bytes& sent) {
  const Scenario scenario = scenario_of(R"(
name: flags
cluster:
  name: two nodes
  nodes: 2
  gpus_per_node: 1
  gpu: {base: gpus/ideal, cus: 16, fp32_vector: 1 PFLOP/s}
  scale_out: {shape: switch, link: {bandwidth: 25 GB/s, latency: 300 ns}}
  nic: {base: nics/ideal, bandwidth: 25 GB/s, message_rate: 1 M/s}
workload:
  kind: embedding_all_to_all
  batch: 8
  tables_per_gpu: 4
  rows_per_table: 1000
  dim: 64
  pooling: 1
  rows_per_wg: 2
modes: [fused]
fused: {flag_per: )" + flag_per + "}\n");
  const RunResult result = run(scenario, Mode::fused);
  messages = result.operators[0].messages;
  sent = result.gpus[0].sent;
  return result.time;
}

TEST(Flags, of_a_peer_cost_one_message_and_of_a_slice_two_entries) {
  // 4 samples a GPU / 2 rows a WG x 4 tables = 8 WGs for the peer, 512 B each, on a NIC that takes
  // 1 us an entry. Flag per slice: 8 puts of payload, fence and flag, the last one starts after 7 x
  // 3 entries and its flag, the third entry, two later. Flag per peer: one flag of 8 B after 8
  // puts. All else is the same.
  std::uint64_t messages_slice = 0;
  std::uint64_t messages_peer = 0;
  Bytes sent_slice;
  Bytes sent_peer;
  const Duration slice = fused_time("slice", messages_slice, sent_slice);
  const Duration peer = fused_time("peer", messages_peer, sent_peer);
  EXPECT_EQ(messages_slice, 2U * 8);
  EXPECT_EQ(messages_peer, 2U * 9);
  EXPECT_EQ(sent_slice, bytes(8 * 512));
  EXPECT_EQ(sent_peer, bytes(8 * 512 + 8));
  EXPECT_EQ(slice - peer,
            microseconds(21 + 2 - 8) - transfer_time(bytes(8), gigabytes_per_second(25)));
}

}  // namespace
}  // namespace weft::nic_and_proxy_test
