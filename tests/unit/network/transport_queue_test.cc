// Messages that meet: first come, first served at every port; NIC queues, rates and pieces. Rates
// are 1 byte a nanosecond; latencies as in transport_time_test.cc.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/network/drive.h"

namespace weft::transport_queue_test {
namespace {

constexpr Duration kLink = nanoseconds(700);
constexpr Duration kNic = nanoseconds(600);
constexpr Duration kReceive = nanoseconds(50);
constexpr Duration kWay = kNic + 2 * kLink + kReceive;  // over one switch, without serialisation

NetworkSpec on_a_switch(int nodes, const NicSpec& nic) {
  return one_gpu_nodes(nodes, fabric("switch", kLink), nic);
}

Outgoing message(std::uint32_t tag, std::uint32_t from, std::uint32_t to, std::int64_t size) {
  return {.tag = tag, .from_gpu = from, .to_gpu = to, .size = bytes(size)};
}

TEST(TransportQueue, two_messages_to_one_port_are_served_one_after_the_other) {
  // Both heads reach the port to 0 at Ln + L; the second waits for the 1000 ns of the first.
  Drive drive(on_a_switch(3, plain_nic()));
  drive.post(SimTime{}, message(1, 1, 0, 1'000));
  drive.post(SimTime{}, message(2, 2, 0, 1'000));
  drive.run();
  EXPECT_EQ(drive.delivered(1), at(kWay + nanoseconds(1'000)));
  EXPECT_EQ(drive.delivered(2), at(kWay + nanoseconds(2'000)));
}

TEST(TransportQueue, who_comes_first_is_served_first_whatever_its_size_and_number) {
  Drive drive(on_a_switch(3, plain_nic()));
  drive.post(at(picoseconds(0)), message(9, 2, 0, 5'000));
  drive.post(at(picoseconds(1)), message(1, 1, 0, 10));
  drive.run();
  // The small one comes 1 ps later and waits for all of the large one.
  EXPECT_EQ(drive.delivered(9), at(kWay + nanoseconds(5'000)));
  EXPECT_EQ(drive.delivered(1), at(kWay + nanoseconds(5'010)));
}

TEST(TransportQueue, a_message_that_comes_when_the_port_falls_free_does_not_wait) {
  Drive drive(on_a_switch(3, plain_nic()));
  drive.post(SimTime{}, message(1, 1, 0, 1'000));
  drive.post(at(nanoseconds(1'000)), message(2, 2, 0, 100));
  drive.run();
  EXPECT_EQ(drive.delivered(2), at(nanoseconds(1'000) + kWay + nanoseconds(100)));
  Duration waited;
  for (std::uint32_t i = 0; i < drive.transport().links(); ++i) {
    waited += drive.transport().use(LinkId(i)).queued;
  }
  EXPECT_EQ(waited, Duration());
}

TEST(TransportQueue, messages_of_one_pair_stay_in_order) {
  Drive drive(on_a_switch(2, plain_nic()));
  std::vector<std::uint32_t> tags;
  std::int64_t sent = 0;
  for (std::uint32_t tag = 0; tag < 50; ++tag) {
    const std::int64_t size = 1 + (tag * 37) % 400;
    drive.post(SimTime{}, message(tag, 0, 1, size));
    sent += size;
    tags.push_back(tag);
  }
  drive.run();
  EXPECT_EQ(drive.order(), tags);
  // Back to back: the last one's tail comes when all bytes before it have passed.
  EXPECT_EQ(drive.delivered(49), at(kWay + nanoseconds(sent)));
}

TEST(TransportQueue, a_slow_link_holds_back_a_tail_but_not_the_port_behind_it) {
  // A ring of 4, links of 1 B/ns, NICs of 4 B/ns. 1 -> 0 (1000 B) and 3 -> 0 (100 B) come by two
  // links to the NIC of 0 at Ln + L = h. The NIC needs 250 ns for the first, whose tail comes by
  // its link at h + 1000; it begins the second at h + 250, and its tail is there long before h +
  // 1000. But a port hands over in order: both are there at h + 1000 + R.
  FabricSpec ring = fabric("torus, dims: [4]", kLink);
  NicSpec nic = plain_nic();
  nic.bandwidth = gigabytes_per_second(4);
  Drive drive(one_gpu_nodes(4, ring, nic));
  drive.post(SimTime{}, message(1, 1, 0, 1'000));
  drive.post(at(picoseconds(1)), message(2, 3, 0, 100));
  drive.post(at(nanoseconds(250)), message(3, 3, 0, 2'000));
  drive.run();
  const Duration head = kNic + kLink;
  EXPECT_EQ(drive.delivered(1), at(head + nanoseconds(1'000) + kReceive));
  EXPECT_EQ(drive.delivered(2), drive.delivered(1));
  // The third leaves its NIC at 250 and is not delayed by the port, which is free at h + 275: its
  // own link gives it 2000 ns.
  EXPECT_EQ(drive.delivered(3), at(nanoseconds(250) + head + nanoseconds(2'000) + kReceive));
}

TEST(TransportQueue, a_full_nic_queue_stalls_until_the_entry_depth_before_has_left) {
  // Depth 3, 100 ns each: entry k leaves at 100 (k + 1); entry k + 3 is taken when k has left.
  NicSpec nic = plain_nic();
  nic.queue_depth = 3;
  Drive drive(on_a_switch(2, nic));
  for (std::uint32_t k = 0; k < 8; ++k) {
    const Posted posted = drive.post(SimTime{}, message(k, 0, 1, 100));
    EXPECT_EQ(posted.accepted_at, at(nanoseconds(100) * (k + 1))) << k;
    EXPECT_EQ(posted.queued_at, k < 3 ? SimTime{} : at(nanoseconds(100) * (k - 2))) << k;
  }
  drive.run();
  EXPECT_EQ(drive.delivered(7), at(kWay + nanoseconds(800)));
}

TEST(TransportQueue, entries_that_have_left_make_room_again) {
  NicSpec nic = plain_nic();
  nic.queue_depth = 1;
  Drive drive(on_a_switch(2, nic));
  drive.post(SimTime{}, message(1, 0, 1, 100));
  EXPECT_EQ(drive.post(at(picoseconds(99'999)), message(2, 0, 1, 100)).queued_at,
            at(nanoseconds(100)));
  EXPECT_EQ(drive.post(at(nanoseconds(200)), message(3, 0, 1, 100)).queued_at,
            at(nanoseconds(200)));
}

TEST(TransportQueue, a_message_with_its_flag_takes_two_entries) {
  // Depth 3: the first holds 2, the second needs 2 and waits for the first; a third for the second.
  NicSpec nic = plain_nic();
  nic.queue_depth = 3;
  Drive drive(on_a_switch(2, nic));
  Outgoing pair = message(1, 0, 1, 100);
  pair.entries = 2;
  EXPECT_EQ(drive.post(SimTime{}, pair).queued_at, SimTime{});
  EXPECT_EQ(drive.post(SimTime{}, pair).queued_at, at(nanoseconds(100)));
  EXPECT_EQ(drive.post(SimTime{}, pair).queued_at, at(nanoseconds(200)));
  // A single entry finds the third place of the queue: after three pairs (6 entries, 3 places), the
  // entry 3 before it is the first of the second pair, which has left at 200.
  EXPECT_EQ(drive.post(SimTime{}, message(2, 0, 1, 100)).queued_at, at(nanoseconds(200)));
}

TEST(TransportQueue, more_entries_than_the_queue_has_go_when_it_is_empty) {
  // Depth 1, two entries: at once into an empty queue, else when the last one before has left.
  NicSpec nic = plain_nic();
  nic.queue_depth = 1;
  Drive drive(on_a_switch(2, nic));
  Outgoing pair = message(1, 0, 1, 100);
  pair.entries = 2;
  EXPECT_EQ(drive.post(SimTime{}, pair).queued_at, SimTime{});
  EXPECT_EQ(drive.post(at(nanoseconds(10)), pair).queued_at, at(nanoseconds(100)));
}

TEST(TransportQueue, the_queue_of_one_nic_is_nobody_elses) {
  NicSpec nic = plain_nic();
  nic.queue_depth = 1;
  Drive drive(on_a_switch(3, nic));
  drive.post(SimTime{}, message(1, 0, 1, 10'000));
  EXPECT_EQ(drive.post(SimTime{}, message(2, 2, 1, 100)).queued_at, SimTime{});
}

TEST(TransportQueue, small_messages_leave_no_faster_than_the_message_rate) {
  // 8 ns each on the wire, one every 100 ns: message k leaves at 100 k.
  NicSpec nic = plain_nic();
  nic.message_interval = nanoseconds(100);
  Drive drive(on_a_switch(2, nic));
  for (std::uint32_t k = 0; k < 10; ++k) drive.post(SimTime{}, message(k, 0, 1, 8));
  drive.run();
  for (std::uint32_t k = 1; k < 10; ++k) {
    EXPECT_EQ(drive.delivered(k) - drive.delivered(k - 1), nanoseconds(100));
  }
}

TEST(TransportQueue, large_messages_do_not_notice_the_message_rate) {
  NicSpec nic = plain_nic();
  nic.message_interval = nanoseconds(100);
  Drive drive(on_a_switch(2, nic));
  for (std::uint32_t k = 0; k < 10; ++k) drive.post(SimTime{}, message(k, 0, 1, 101));
  drive.run();
  EXPECT_EQ(drive.delivered(9), at(kWay + nanoseconds(1'010)));
}

TEST(TransportQueue, a_message_of_two_entries_takes_two_intervals) {
  NicSpec nic = plain_nic();
  nic.message_interval = nanoseconds(100);
  Drive drive(on_a_switch(2, nic));
  for (std::uint32_t k = 0; k < 4; ++k) {
    Outgoing pair = message(k, 0, 1, 8);
    pair.entries = 2;
    drive.post(SimTime{}, pair);
  }
  drive.run();
  EXPECT_EQ(drive.delivered(3) - drive.delivered(0), nanoseconds(600));
}

TEST(TransportQueue, the_message_rate_counts_messages_and_not_their_pieces) {
  // Two messages of five pieces of 10 B, one message every 100 ns: the second follows the first by
  // an interval and at most the 50 ns of its bytes, where five intervals would be 500.
  FabricSpec cut = fabric("switch", kLink);
  cut.segment = bytes(10);
  NicSpec nic = plain_nic();
  nic.message_interval = nanoseconds(100);
  Drive drive(one_gpu_nodes(2, cut, nic));
  drive.post(SimTime{}, message(1, 0, 1, 50));
  drive.post(SimTime{}, message(2, 0, 1, 50));
  drive.run();
  EXPECT_GE(drive.delivered(2) - drive.delivered(1), nanoseconds(100));
  EXPECT_LE(drive.delivered(2) - drive.delivered(1), nanoseconds(150));
}

TEST(TransportQueue, the_message_rate_does_not_delay_a_message_that_follows_no_other) {
  // message_interval is the least time between two messages. A single one of 8 bytes takes 8 ns to
  // serialise; its tail does not wait for an interval that only the next message has to keep.
  NicSpec nic = plain_nic();
  nic.message_interval = nanoseconds(100);
  Drive drive(on_a_switch(2, nic));
  drive.post(SimTime{}, message(1, 0, 1, 8));
  drive.run();
  EXPECT_EQ(drive.delivered(1), at(kWay + nanoseconds(8)));
}

TEST(TransportQueue, pieces_of_two_messages_take_turns_at_a_port) {
  // Two messages of two pieces of 1000 B to one port. The pieces A1 B1 reach it together, A2 B2
  // together 1000 ns later, while A1 is served: A1 B1 A2 B2. So A ends after 3, B after 4 pieces,
  // where whole messages would end after 2 and 4.
  FabricSpec cut = fabric("switch", kLink);
  cut.segment = bytes(1'000);
  Drive drive(one_gpu_nodes(3, cut, plain_nic()));
  drive.post(SimTime{}, message(1, 1, 0, 2'000));
  drive.post(SimTime{}, message(2, 2, 0, 2'000));
  drive.run();
  EXPECT_EQ(drive.delivered(1), at(kWay + nanoseconds(3'000)));
  EXPECT_EQ(drive.delivered(2), at(kWay + nanoseconds(4'000)));
}

TEST(TransportQueue, a_small_message_passes_between_the_pieces_of_a_large_one) {
  FabricSpec cut = fabric("switch", kLink);
  cut.segment = bytes(1'000);
  Drive drive(one_gpu_nodes(3, cut, plain_nic()));
  drive.post(SimTime{}, message(1, 1, 0, 10'000));
  drive.post(at(nanoseconds(500)), message(2, 2, 0, 100));
  drive.run();
  // It comes in the first piece, waits for its other 500 ns, and delays the large one by 100.
  EXPECT_EQ(drive.delivered(2), at(nanoseconds(500) + kWay + nanoseconds(500 + 100)));
  EXPECT_EQ(drive.delivered(1), at(kWay + nanoseconds(10'100)));
}

TEST(TransportQueue, waiting_is_accounted_to_the_link_where_it_happened) {
  // Of three messages of 1000 ns to one port the second waits 1000, the third 2000 ns there.
  Drive drive(on_a_switch(4, plain_nic()));
  for (std::uint32_t from = 1; from < 4; ++from) {
    drive.post(SimTime{}, message(from, from, 0, 1'000));
  }
  drive.run();
  int found = 0;
  for (std::uint32_t i = 0; i < drive.transport().links(); ++i) {
    const LinkUse& use = drive.transport().use(LinkId(i));
    if (drive.transport().name(LinkId(i)) != "4->0") {  // the switch is vertex 4
      EXPECT_EQ(use.queued, Duration()) << drive.transport().name(LinkId(i));
      continue;
    }
    ++found;
    EXPECT_EQ(use.queued, nanoseconds(3'000));
    EXPECT_EQ(use.queued_max, nanoseconds(2'000));
    EXPECT_EQ(use.busy, nanoseconds(3'000));
    EXPECT_EQ(use.messages, 3U);
    EXPECT_EQ(use.carried, bytes(3'000));
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace weft::transport_queue_test
