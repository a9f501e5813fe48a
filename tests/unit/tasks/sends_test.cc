// Sends, of which those of a kind store it once.
#include "sim/tasks/sends.h"

#include <gtest/gtest.h>

namespace weft::sends_test {
namespace {

Send every_member(std::uint16_t i) {
  return {.to = i,
          .size = i + 1U,
          .arrives = LatchId(i + 2U),
          .issued = LatchId(i + 3U),
          .entries = static_cast<std::uint16_t>(i + 4U),
          .op = static_cast<std::uint16_t>(i + 5U),
          .group = static_cast<std::uint16_t>(i + 6U),
          .receive_traffic = 3,
          .ordered = 1,
          .from_engine = 1,
          .in_switch = InSwitch::multicasts};
}

void expect_same(const Send& a, const Send& b) {
  EXPECT_EQ(a.to, b.to);
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.arrives, b.arrives);
  EXPECT_EQ(a.issued, b.issued);
  EXPECT_EQ(a.entries, b.entries);
  EXPECT_EQ(a.op, b.op);
  EXPECT_EQ(a.group, b.group);
  EXPECT_EQ(a.receive_traffic, b.receive_traffic);
  EXPECT_EQ(a.ordered, b.ordered);
  EXPECT_EQ(a.from_engine, b.from_engine);
  EXPECT_EQ(a.in_switch, b.in_switch);
}

TEST(Sends, are_as_they_were_added) {
  Sends sends;
  for (std::uint16_t i = 0; i < 5; ++i) sends.push_back(every_member(i));
  sends.push_back({});
  for (std::uint16_t i = 0; i < 5; ++i) expect_same(sends[i], every_member(i));
  expect_same(sends[5], Send{});
}

TEST(Sends, of_one_kind_store_it_once) {
  Sends sends;
  for (std::uint32_t i = 0; i < 100; ++i) {
    sends.push_back({.to = i, .size = i, .arrives = LatchId(i), .issued = LatchId(i)});
    sends.push_back({.to = i, .entries = 7});
  }
  EXPECT_EQ(sends.size(), 200U);
  EXPECT_EQ(sends.kinds().size(), 2U);
}

TEST(Sends, are_changed_one_by_one) {
  Sends sends;
  for (int i = 0; i < 3; ++i) sends.push_back({});
  sends.put(1, every_member(9));
  expect_same(sends[0], Send{});
  expect_same(sends[1], every_member(9));
  expect_same(sends[2], Send{});
}

TEST(Sends, belong_to_an_operator_from_one_on) {
  Sends sends;
  for (std::uint16_t i = 0; i < 4; ++i)
    sends.push_back({.entries = static_cast<std::uint16_t>(i % 2), .op = 8});
  sends.own(1, 30);
  std::vector<std::pair<int, int>> found;
  for (const Send& send : sends) found.emplace_back(send.op, send.entries);
  EXPECT_EQ(found, (std::vector<std::pair<int, int>>{{8, 0}, {30, 1}, {30, 0}, {30, 1}}));
}

}  // namespace
}  // namespace weft::sends_test
