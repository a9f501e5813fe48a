#include "sim/spec/parsed_texts.h"

#include <gtest/gtest.h>

#include <string>

namespace weft::parsed_texts_test {
namespace {

std::string value_in(const std::string& text, const std::string& file = "parsed_texts.yaml") {
  Diagnostics problems;
  const auto tree = parse_or_remember({.file = file, .text = text}, problems);
  EXPECT_EQ(problems.to_text(), "");
  return tree ? tree->find("a")->value.text : "";
}

TEST(ParsedTexts, are_those_of_the_text_not_of_the_file) {
  EXPECT_EQ(value_in("a: 1"), "1");
  EXPECT_EQ(value_in("a: 1"), "1");
  EXPECT_EQ(value_in("a: 2"), "2");
  EXPECT_EQ(value_in("a: 1"), "1");
}

TEST(ParsedTexts, have_the_places_of_their_own_file) {
  value_in("a: 1", "one.yaml");
  Diagnostics problems;
  const auto tree = parse_or_remember({.file = "other.yaml", .text = "a: 1"}, problems);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->find("a")->value.at.file, "other.yaml");
}

TEST(ParsedTexts, say_what_is_wrong_each_time) {
  for (int i = 0; i < 2; ++i) {
    Diagnostics problems;
    EXPECT_FALSE(parse_or_remember({.file = "wrong.yaml", .text = "a: 1\na: 2"}, problems));
    EXPECT_TRUE(problems.has_errors());
  }
}

TEST(ParsedTexts, outlive_many_others) {
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(value_in("a: " + std::to_string(i), std::to_string(i) + ".yaml"), std::to_string(i));
  }
  EXPECT_EQ(value_in("a: first", "0.yaml"), "first");
}

}  // namespace
}  // namespace weft::parsed_texts_test
