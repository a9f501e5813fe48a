#include "sim/core/diagnostics.h"

#include <gtest/gtest.h>

namespace weft::diagnostics_test {
namespace {

Diagnostic problem(SourcePosition at, std::string message, std::string line = "") {
  return {.at = std::move(at), .path = "", .message = std::move(message), .source_line = line};
}

TEST(Diagnostics, are_sorted_by_place_and_said_once) {
  Diagnostics all;
  all.add(problem({"b.yaml", 1, 1}, "third"));
  all.add(problem({"a.yaml", 10, 1}, "second"));
  all.add(problem({"a.yaml", 9, 1}, "first"));
  all.add(problem({"a.yaml", 9, 1}, "first"));
  EXPECT_EQ(all.to_text(),
            "a.yaml:9:1: error: first\na.yaml:10:1: error: second\nb.yaml:1:1: error: third\n");
}

TEST(Diagnostics, the_caret_stands_under_the_column_even_after_tabs) {
  Diagnostics all;
  all.add(problem({"a.yaml", 1, 4}, "here", "\t  x: 1"));
  EXPECT_EQ(all.to_text(), "a.yaml:1:4: error: here\n  \t  x: 1\n  \t  ^\n");
}

TEST(Diagnostics, of_a_very_long_line_only_the_part_around_the_column_is_shown) {
  Diagnostics all;
  all.add(problem({"a.yaml", 1, 1001}, "here", std::string(1000, 'a') + 'X' + std::string(9, 'b')));
  EXPECT_EQ(all.to_text(), "a.yaml:1:1001: error: here\n  " + std::string(60, 'a') +
                               "Xbbbbbbbbb\n  " + std::string(60, ' ') + "^\n");
}

TEST(Diagnostics, control_characters_do_not_reach_the_terminal) {
  Diagnostics all;
  all.add(problem({"a\x1b.yaml", 0, 0}, "a\nb"));
  EXPECT_EQ(all.to_text(), "a?.yaml: error: a?b\n");
}

TEST(Diagnostics, a_warning_is_not_an_error) {
  Diagnostics all;
  all.add({.at = {"a.yaml", 1, 1},
           .path = "a.b",
           .message = "unusual",
           .source_line = "",
           .severity = Severity::warning});
  EXPECT_FALSE(all.has_errors());
  EXPECT_EQ(all.to_text(), "a.yaml:1:1: warning: a.b: unusual\n");
  all.add(problem({"a.yaml", 1, 1}, "wrong"));
  EXPECT_TRUE(all.has_errors());
}

TEST(Nearest, is_the_word_with_the_fewest_letters_to_change) {
  EXPECT_EQ(nearest("bandwith", {"latency", "bandwidth"}), "bandwidth");
  EXPECT_EQ(nearest("cuss", {"cu", "cus"}), "cus");
}

TEST(Nearest, is_nothing_where_more_than_a_third_would_change) {
  EXPECT_EQ(nearest("colour", {"latency", "bandwidth"}), "");
  EXPECT_EQ(nearest("", {"a"}), "");
  EXPECT_EQ(nearest(std::string(100'000, 'a'), {"a"}), "");
}

}  // namespace
}  // namespace weft::diagnostics_test
