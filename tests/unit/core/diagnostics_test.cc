// Diagnostics: sorted by place, each once, a caret where the mistake is, the nearest word offered.
#include "sim/core/diagnostics.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::diagnostics_test {
namespace {

// Filled in field by field: gcc 12 warns wrongly about designated initialisers of strings here.
Diagnostic problem(const std::string& file, int line, int column, const std::string& message,
                   const std::string& path = "", const std::string& source_line = "") {
  Diagnostic made;
  made.at.file = file;
  made.at.line = line;
  made.at.column = column;
  made.path = path;
  made.message = message;
  made.source_line = source_line;
  return made;
}

TEST(Diagnostics, a_problem_is_its_place_its_key_its_message_and_a_caret) {
  Diagnostics problems;
  problems.add(problem("cluster.yaml", 3, 12, "missing unit", "cluster.scale_out.latency",
                       "  latency: 700"));
  // Column 12 counts from 1, and the line is shown indented by 2.
  EXPECT_EQ(problems.to_text(),
            "cluster.yaml:3:12: error: cluster.scale_out.latency: missing unit\n"
            "    latency: 700\n"
            "             ^\n");
}

TEST(Diagnostics, those_of_another_are_appended_with_their_severity) {
  Diagnostics warned;
  warned.add(problem("a.yaml", 1, 1, "first"));
  Diagnostic warning = problem("a.yaml", 2, 1, "second");
  warning.severity = Severity::warning;
  Diagnostics problems;
  problems.add(warning);
  EXPECT_FALSE(problems.has_errors());
  problems.append(warned);
  EXPECT_TRUE(problems.has_errors());
  EXPECT_EQ(problems.to_text(), "a.yaml:1:1: error: first\na.yaml:2:1: warning: second\n");
  EXPECT_EQ(warned.all().size(), 1U);
}

TEST(Diagnostics, they_are_sorted_by_file_line_and_column_as_numbers) {
  Diagnostics problems;
  problems.add(problem("b.yaml", 1, 1, "fifth"));
  problems.add(problem("a.yaml", 10, 1, "fourth"));
  problems.add(problem("a.yaml", 9, 10, "third"));
  problems.add(problem("a.yaml", 9, 2, "second"));
  problems.add(problem("a.yaml", 0, 0, "first"));
  EXPECT_EQ(problems.to_text(),
            "a.yaml: error: first\n"
            "a.yaml:9:2: error: second\n"
            "a.yaml:9:10: error: third\n"
            "a.yaml:10:1: error: fourth\n"
            "b.yaml:1:1: error: fifth\n");
}

TEST(Diagnostics, the_same_problem_is_told_once) {
  Diagnostics problems;
  problems.add(problem("a.yaml", 1, 1, "twice"));
  problems.add(problem("a.yaml", 1, 2, "other"));
  problems.add(problem("a.yaml", 1, 1, "twice"));
  EXPECT_EQ(problems.to_text(), "a.yaml:1:1: error: twice\na.yaml:1:2: error: other\n");
  EXPECT_EQ(problems.all().size(), 3U);
}

TEST(Diagnostics, warnings_are_no_errors) {
  Diagnostics problems;
  EXPECT_FALSE(problems.has_errors());
  EXPECT_EQ(problems.to_text(), "");
  Diagnostic warning = problem("a.yaml", 1, 1, "odd");
  warning.severity = Severity::warning;
  problems.add(warning);
  EXPECT_FALSE(problems.has_errors());
  EXPECT_EQ(problems.to_text(), "a.yaml:1:1: warning: odd\n");
  problems.add(problem("a.yaml", 2, 1, "wrong"));
  EXPECT_TRUE(problems.has_errors());
}

// The text with a caret that a line of a file gives.
std::string shown(const std::string& line, int column) {
  Diagnostics problems;
  problems.add(problem("f", 1, column, "m", "", line));
  const std::string head = "f:1:" + std::to_string(column) + ": error: m\n";
  EXPECT_EQ(problems.to_text().substr(0, head.size()), head);
  return problems.to_text().substr(head.size());
}

TEST(Diagnostics, the_caret_stands_under_its_column_behind_tabs_and_behind_the_end_too) {
  EXPECT_EQ(shown("abc", 1), "  abc\n  ^\n");
  EXPECT_EQ(shown("a\tbc", 3), "  a\tbc\n   \t^\n");
  EXPECT_EQ(shown("abc", 4), "  abc\n     ^\n");
}

TEST(Diagnostics, a_column_that_the_line_does_not_have_has_no_caret) {
  EXPECT_EQ(shown("abc", 5), "");
  EXPECT_EQ(shown("abc", 0), "");
}

TEST(Diagnostics, of_a_very_long_line_only_the_part_around_the_caret_is_shown) {
  std::string line(1'000, 'x');
  line[499] = 'Y';
  // 60 columns before the caret, 120 in all.
  EXPECT_EQ(shown(line, 500), "  " + std::string(60, 'x') + "Y" + std::string(59, 'x') + "\n  " +
                                  std::string(60, ' ') + "^\n");
}

TEST(Diagnostics, control_characters_of_a_hostile_file_do_not_reach_the_terminal) {
  Diagnostics problems;
  problems.add(problem("f\x1B", 1, 2, "m\n\x7F", "k\x07", "\x1B[2Jx"));
  EXPECT_EQ(problems.to_text(), "f?:1:2: error: k?: m??\n  ?[2Jx\n   ^\n");
}

TEST(Nearest, one_wrong_missing_or_surplus_letter_is_recognised) {
  const std::vector<std::string> known = {"bandwidth", "latency", "message_rate"};
  EXPECT_EQ(nearest("bandwith", known), "bandwidth");
  EXPECT_EQ(nearest("lattency", known), "latency");
  EXPECT_EQ(nearest("massage_rate", known), "message_rate");
  EXPECT_EQ(nearest("latency", known), "latency");
}

TEST(Nearest, a_third_of_the_letters_may_differ_and_no_more) {
  EXPECT_EQ(nearest("abcxxf", {"abcdef"}), "abcdef");  // 2 of 6
  EXPECT_EQ(nearest("abxxxf", {"abcdef"}), "");        // 3 of 6
  EXPECT_EQ(nearest("ab", {"abc"}), "abc");            // 1 of 3
  EXPECT_EQ(nearest("a", {"ab"}), "");                 // 1 of 2
}

TEST(Nearest, of_a_beginning_is_the_only_word_that_begins_so) {
  const std::vector<std::string> known = {"training", "inference", "prefill", "decode"};
  EXPECT_EQ(nearest("train", known), "training");
  EXPECT_EQ(nearest("dec", known), "decode");
  EXPECT_EQ(nearest("de", known), "");  // too short to tell
  EXPECT_EQ(nearest("pre", {"prefill", "predict"}), "");
}

TEST(Nearest, the_nearest_wins_and_of_equally_near_ones_the_first) {
  EXPECT_EQ(nearest("channel", {"channess", "channels"}), "channels");
  EXPECT_EQ(nearest("abcd", {"abcx", "abcy"}), "abcx");
  EXPECT_EQ(nearest("anything", {}), "");
}

}  // namespace
}  // namespace weft::diagnostics_test
