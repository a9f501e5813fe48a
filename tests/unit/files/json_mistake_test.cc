#include "sim/files/json_mistake.h"

#include <gtest/gtest.h>

namespace weft::json_mistake_test {
namespace {

std::string told(std::string_view text, bool first_only = false) {
  const auto mistake = first_json_mistake(text, first_only);
  return mistake ? text_of(*mistake) : "";
}

TEST(JsonMistakes, are_told_with_their_place_in_words_of_our_own) {
  EXPECT_EQ(told("{\"a\": [1, 2]}"), "");
  EXPECT_EQ(told("{\n  \"a\": 1e999\n}"),
            "not JSON at line 2, column 8: the number 1e999 is too large");
  EXPECT_EQ(told("{\n\"a\" 1}").find("not JSON at line 2, column 5: after a key of an object: "),
            0U)
      << told("{\n\"a\" 1}");
  EXPECT_EQ(told("[1,").find("not JSON at line 1, column 4: where a value should be: "), 0U)
      << told("[1,");
  for (const char* text :
       {"", "{", "[1 2]", "{\"a\":}", "nope", "\"\xff\"", "1e999", "{} {}", "{1: 2}"}) {
    EXPECT_NE(told(text), "") << text;
    EXPECT_EQ(told(text).find("exception"), std::string::npos) << told(text);
    EXPECT_EQ(told(text).find("parse error"), std::string::npos) << told(text);
  }
}

TEST(JsonMistakes, behind_the_first_value_may_be_ignored) {
  EXPECT_NE(told("{} }"), "");
  EXPECT_EQ(told("{} }", true), "");
}

}  // namespace
}  // namespace weft::json_mistake_test
