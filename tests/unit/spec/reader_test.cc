#include "sim/spec/reader.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace weft::reader_test {
namespace {

Node tree_of(std::string_view text) {
  Diagnostics problems;
  return parse_tree({.file = "a.yaml", .text = text}, problems).value_or(Node{});
}

// A whole number, and one with a default of 4.
constexpr Range<std::int64_t> kTwoToEight{2, 8};
std::optional<std::int64_t> count(MapReader map, std::string_view key,
                                  const Range<std::int64_t>& range = kTwoToEight) {
  return map.value(key, ValueForm::plain, range, "how many", std::nullopt);
}
std::optional<std::int64_t> count_or_4(MapReader map, std::string_view key,
                                       const Range<std::int64_t>& range = kTwoToEight) {
  return map.value(key, ValueForm::plain, range, "how many", std::optional<std::string>("4"));
}

TEST(MapReader, returns_what_is_written_and_nothing_for_the_rest) {
  Reading reading(Reading::Purpose::read);
  const Node root = tree_of("{rate: 200 Gb/s, wait: 1 us}");
  MapReader map(reading, root);
  EXPECT_EQ(map.value("rate", ValueForm::plain, kAnyBandwidth, "", std::nullopt),
            gigabits_per_second(200));
  EXPECT_EQ(map.value("wait", ValueForm::plain, kHardwareTime, "", std::nullopt), microseconds(1));
  EXPECT_EQ(count_or_4(map, "rest"), std::nullopt);
  map.finish();
  EXPECT_EQ(reading.problems().to_text(), "");
}

TEST(MapReader, after_a_mistake_goes_on_with_nothing) {
  Reading reading(Reading::Purpose::read);
  const Node root = tree_of("{a: x, b: 9}");
  MapReader map(reading, root);
  EXPECT_EQ(count(map, "a"), std::nullopt);
  EXPECT_EQ(count_or_4(map, "b"), std::nullopt);
  EXPECT_EQ(reading.problems().all().size(), 2U);
}

TEST(MapReader, bounds_are_part_of_the_range) {
  Reading reading(Reading::Purpose::read);
  const Node root = tree_of("{a: 2, b: 8, c: 1, d: 9}");
  MapReader map(reading, root);
  for (const char* key : {"a", "b", "c", "d"}) count(map, key);
  ASSERT_EQ(reading.problems().all().size(), 2U);
  EXPECT_EQ(reading.problems().all()[0].path, "c");
  EXPECT_EQ(reading.problems().all()[1].path, "d");
}

TEST(MapReader, a_rule_sees_which_keys_were_read_well) {
  Reading reading(Reading::Purpose::read);
  const Node root = tree_of("{a: {x: bad, y: 1}}");
  MapReader map(reading, root);
  MapReader a = map.map("a", "");
  count(a, "x", {1, 8});
  count(a, "y", {1, 8});
  const auto good = [&](std::string_view path) { return reading.good({&path, 1}); };
  EXPECT_FALSE(good("a.x"));
  EXPECT_TRUE(good("a.y"));
  EXPECT_FALSE(good("a.x.below"));
}

TEST(MapReader, keys_of_a_condition_that_does_not_hold_are_mistakes) {
  Reading reading(Reading::Purpose::read);
  const Node root = tree_of("{dims: 1}");
  MapReader map(reading, root);
  count_or_4(map.where(false, "shape: torus"), "dims");
  map.finish();
  ASSERT_EQ(reading.problems().all().size(), 1U);
  EXPECT_EQ(reading.problems().all()[0].message,
            "only for shape: torus; remove it, or if it comes from a base write 'dims: ~'");
}

TEST(MapReader, lists_the_keys_that_apply_beside_one_that_is_none) {
  Reading reading(Reading::Purpose::read);
  const Node root = tree_of("{one: 1, thre: 3}");
  MapReader map(reading, root);
  count(map, "one", kCount);
  count(map.where(false, "another kind"), "three");
  count(map.where(std::nullopt, "a kind that is not known"), "two");
  map.finish();
  ASSERT_EQ(reading.problems().all().size(), 1U);
  EXPECT_EQ(reading.problems().all()[0].message,
            "unknown key; did you mean 'three'? Known here: one two");
}

TEST(MapReader, says_nothing_about_keys_of_a_condition_that_is_not_known) {
  Reading reading(Reading::Purpose::read);
  const Node root = tree_of("{dims: 1}");
  MapReader map(reading, root);
  count(map.where(std::nullopt, "shape: torus"), "dims");
  count(map.where(std::nullopt, "shape: torus"), "missing");
  map.finish();
  EXPECT_EQ(reading.problems().to_text(), "");
}

TEST(MapReader, describes_every_key_without_a_file) {
  Reading reading(Reading::Purpose::describe);
  const Node nothing;
  MapReader map(reading, nothing);
  map.value("wait", ValueForm::plain, kHardwareTime, "how long", std::nullopt);
  MapReader inner = map.map("inner", "more");
  count_or_4(inner.where(false, "shape: torus"), "n");
  ASSERT_EQ(reading.docs().size(), 3U);
  EXPECT_EQ(reading.docs()[0].path, "wait");
  EXPECT_EQ(reading.docs()[0].units, "ps ns us ms s");
  EXPECT_EQ(reading.docs()[0].fallback, "required");
  EXPECT_EQ(reading.docs()[0].help, "how long");
  EXPECT_EQ(reading.docs()[2].path, "inner.n");
  EXPECT_EQ(reading.docs()[2].fallback, "4");
  EXPECT_EQ(reading.docs()[2].only, "shape: torus");
  EXPECT_EQ(reading.docs()[0].low, "0 ps");
  EXPECT_EQ(reading.docs()[0].high, "1 s");
  EXPECT_EQ(reading.docs()[1].low, "");
  EXPECT_EQ(reading.docs()[2].high, "8");
  EXPECT_EQ(reading.problems().to_text(), "");
}

TEST(MapReader, a_key_that_is_taken_away_is_not_given) {
  Reading reading(Reading::Purpose::read);
  const Node root = tree_of("{a: ~, b: 1}");
  const MapReader map(reading, root);
  EXPECT_FALSE(map.gives("a"));
  EXPECT_TRUE(map.gives("b"));
  EXPECT_FALSE(map.gives("c"));
}

}  // namespace
}  // namespace weft::reader_test
