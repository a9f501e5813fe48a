// What the switch of a node adds up or copies, to the picosecond. 1 GB/s is 1 byte a nanosecond, a
// link has a latency of 700 ns.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/network/drive.h"

namespace weft::in_switch_test {
namespace {

constexpr Duration kLink = nanoseconds(700);
const std::vector<std::uint32_t> kGroup{0, 1, 2, 3};

NetworkSpec reducing(int gpus, std::int64_t segment = 0, const std::string& more = "") {
  FabricSpec spec = fabric("switch, reduces: true" + more, kLink);
  spec.segment = bytes(segment);
  return one_node(gpus, spec);
}

OutgoingInSwitch sum(std::uint32_t tag, std::uint32_t gpu, std::int64_t size) {
  return {.tag = tag, .gpu = gpu, .op = InSwitch::reduces, .size = bytes(size), .group = kGroup};
}
OutgoingInSwitch copy(std::uint32_t tag, std::uint32_t gpu, std::int64_t size) {
  return {.tag = tag, .gpu = gpu, .op = InSwitch::multicasts, .size = bytes(size), .group = kGroup};
}

// Of a link, by name.
std::int64_t carried(const Transport& transport, const std::string& name) {
  for (std::uint32_t i = 0; i < transport.links(); ++i) {
    if (transport.name(LinkId(i)) == name) return transport.use(LinkId(i)).carried.count();
  }
  ADD_FAILURE() << "no link " << name;
  return 0;
}

TEST(InSwitch, a_sum_takes_as_long_as_one_message) {
  // All parts cross their links up at once; the sum follows their heads: 2 L + S / r.
  const Duration end = kLink * 2 + nanoseconds(1'000);
  Drive drive(reducing(4));
  drive.post_in_switch(SimTime{}, sum(1, 2, 1'000));
  drive.run();
  EXPECT_EQ(drive.delivered(1), at(end));
  EXPECT_EQ(drive.transport().in_flight(), 0U);

  Drive early(reducing(4));
  early.post_in_switch(SimTime{}, sum(1, 2, 1'000));
  early.post_in_switch(at(end), sum(2, 2, 1'000));  // everything before `end` has happened
  EXPECT_TRUE(early.order().empty());
}

TEST(InSwitch, a_sum_waits_for_its_last_part) {
  // Member 3 has 5,000 bytes to send before.
  Drive drive(reducing(5));
  drive.post(SimTime{}, {.tag = 9, .from_gpu = 3, .to_gpu = 4, .size = bytes(5'000)});
  drive.post_in_switch(SimTime{}, sum(1, 0, 1'000));
  drive.run();
  EXPECT_EQ(drive.delivered(1), at(kLink * 2 + nanoseconds(6'000)));
}

TEST(InSwitch, each_member_gets_its_copy_when_its_link_is_free) {
  // 2 L + S / r; the port down to member 1 has 3,000 bytes from elsewhere, whose head was there
  // first.
  Drive drive(reducing(5));
  drive.post(SimTime{}, {.tag = 9, .from_gpu = 4, .to_gpu = 1, .size = bytes(3'000)});
  drive.post_in_switch(at(nanoseconds(1)), copy(1, 2, 1'000));
  drive.run();
  ASSERT_EQ(drive.copies(), 4U);
  for (const std::uint32_t member : {0U, 2U, 3U}) {
    EXPECT_EQ(drive.copy_delivered(1, member), at(kLink * 2 + nanoseconds(1'001)));
  }
  EXPECT_EQ(drive.copy_delivered(1, 1), at(kLink * 2 + nanoseconds(4'000)));
  EXPECT_EQ(drive.transport().in_flight(), 0U);

  Drive early(reducing(4));
  early.post_in_switch(SimTime{}, copy(1, 2, 1'000));
  early.post_in_switch(at(kLink * 2 + nanoseconds(1'000)), copy(2, 2, 1));
  EXPECT_EQ(early.copies(), 0U);
}

TEST(InSwitch, links_carry_each_part_and_each_copy_once) {
  Drive drive(reducing(4));
  drive.post_in_switch(SimTime{}, sum(1, 2, 1'000));
  drive.post_in_switch(SimTime{}, copy(2, 0, 300));
  drive.run();
  const Transport& transport = drive.transport();
  EXPECT_EQ(carried(transport, "node0 0->4"), 1'300);
  EXPECT_EQ(carried(transport, "node0 1->4"), 1'000);
  EXPECT_EQ(carried(transport, "node0 2->4"), 1'000);
  EXPECT_EQ(carried(transport, "node0 4->2"), 1'300);
  EXPECT_EQ(carried(transport, "node0 4->3"), 300);
}

TEST(InSwitch, pieces_are_added_up_and_copied_one_by_one) {
  Drive drive(reducing(4, 400));
  drive.post_in_switch(SimTime{}, sum(1, 1, 1'000));
  drive.run();
  EXPECT_EQ(drive.delivered(1), at(kLink * 2 + nanoseconds(1'000)));
  Drive copies(reducing(4, 400));
  copies.post_in_switch(SimTime{}, copy(1, 1, 1'000));
  copies.run();
  ASSERT_EQ(copies.copies(), 4U);
  EXPECT_EQ(copies.copy_delivered(1, 0), at(kLink * 2 + nanoseconds(1'000)));
  EXPECT_EQ(copies.transport().in_flight(), 0U);
}

TEST(InSwitch, sums_and_copies_pass_at_a_rate_of_their_own) {
  // Half of the links': 2 L + 2 S / r; what comes behind waits for that.
  const NetworkSpec spec = reducing(4, 0, ", in_switch_ratio: 0.5");
  Drive drive(spec);
  drive.post_in_switch(SimTime{}, sum(1, 2, 1'000));
  drive.post(SimTime{}, {.tag = 2, .from_gpu = 1, .to_gpu = 3, .size = bytes(100)});
  drive.run();
  EXPECT_EQ(drive.delivered(1), at(kLink * 2 + nanoseconds(2'000)));
  EXPECT_EQ(drive.delivered(2), at(kLink * 2 + nanoseconds(2'100)));
}

TEST(InSwitchDeathTest, a_switch_that_cannot_is_not_asked) {
  Drive drive(one_node(4, fabric("switch", kLink)));
  EXPECT_DEATH(drive.post_in_switch(SimTime{}, sum(1, 2, 1'000)), "reduces_");
}

}  // namespace
}  // namespace weft::in_switch_test
