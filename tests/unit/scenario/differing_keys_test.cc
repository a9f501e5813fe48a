// What differs between scenarios.
#include "sim/scenario/differing_keys.h"

#include <gtest/gtest.h>

namespace weft::differing_keys_test {
namespace {

std::vector<DifferingKey> differing(const std::vector<std::string>& texts) {
  std::vector<Node> scenarios;
  Diagnostics problems;
  for (const std::string& text : texts) {
    scenarios.push_back(parse_tree({.file = "a.yaml", .text = text}, problems).value_or(Node()));
  }
  EXPECT_FALSE(problems.has_errors()) << problems.to_text();
  return differing_keys(scenarios);
}

using Values = std::vector<std::string>;

TEST(DifferingKeys, are_named_with_their_whole_path_and_a_value_for_each) {
  const auto keys = differing({"a: 1\nb: {c: {d: 2, e: 3}}\n", "a: 1\nb: {c: {d: 4, e: 3}}\n"});
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(keys[0].path, "b.c.d");
  EXPECT_EQ(keys[0].values, (Values{"2", "4"}));
}

TEST(DifferingKeys, have_a_dash_where_there_is_no_such_key) {
  const auto keys = differing({"a: 1\n", "b: 2\n", "a: 1\nb: 2\n"});
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].values, (Values{"1", "-", "1"}));
  EXPECT_EQ(keys[1].values, (Values{"-", "2", "2"}));
}

TEST(DifferingKeys, lists_differ_as_a_whole) {
  const auto keys = differing({"a: [1, {b: 2}]\n", "a: [1, {b: 3}]\n"});
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(keys[0].path, "a");
  EXPECT_EQ(keys[0].values, (Values{"[1, {b: 2}]", "[1, {b: 3}]"}));
}

TEST(DifferingKeys, of_equal_scenarios_are_none) {
  EXPECT_TRUE(differing({"a: {b: 1, c: 2}\n", "a: {c: 2, b: 1}\n"}).empty());
}

}  // namespace
}  // namespace weft::differing_keys_test
