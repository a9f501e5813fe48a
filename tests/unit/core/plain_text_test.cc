// Text that others wrote: what of it a terminal, a YAML reader and a spreadsheet get to see.
#include "sim/core/plain_text.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/core/byte_names.h"
#include "sim/spec/tree.h"

namespace weft::plain_text_test {
namespace {

// UTF-8, by the definition.
std::string utf8(char32_t code) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | code >> 6U), byte(0x80 | (code & 0x3FU))};
  if (code < 0x10000) {
    return {byte(0xE0 | code >> 12U), byte(0x80 | (code >> 6U & 0x3FU)),
            byte(0x80 | (code & 0x3FU))};
  }
  return {byte(0xF0 | code >> 18U), byte(0x80 | (code >> 12U & 0x3FU)),
          byte(0x80 | (code >> 6U & 0x3FU)), byte(0x80 | (code & 0x3FU))};
}

// What YAML 1.2 calls printable (c-printable), without the breaks of lines of YAML 1.1.
bool yaml_may_have(char32_t code) {
  if (code == 0x2028 || code == 0x2029 || code == 0xFEFF) return false;
  return (0x20 <= code && code <= 0x7E) || (0xA0 <= code && code <= 0xD7FF) ||
         (0xE000 <= code && code <= 0xFFFD) || (0x10000 <= code && code <= 0x10FFFF);
}

TEST(PlainText, letters_of_all_languages_are_plain) {
  EXPECT_TRUE(is_plain_text("GEMM 128×256, Größe, 日本語, עברית, 🙂"));
  EXPECT_EQ(printable("GEMM 128×256, 日本語 🙂"), "GEMM 128×256, 日本語 🙂");
}

TEST(PlainText, a_terminal_gets_no_command) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a?[31mb");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31mb"),
            "a?31mb");  // U+009B: as ESC [
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a?b");  // U+202E: writes from right to left
  EXPECT_EQ(printable("a\rb\x7f"), "a?b?");
  EXPECT_EQ(printable("a\tb\n"), "a\tb\n");
  EXPECT_EQ(printable_line("a\tb\n"), "a\tb?");
}

TEST(PlainText, what_is_no_utf8_is_not_plain) {
  for (const char* text : {"\x80", "\xc0\xaf", "\xe2\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                           "\xf8\x88\x80\x80\x80", "\xff"}) {
    EXPECT_FALSE(is_plain_text(text)) << text;
    EXPECT_EQ(printable(text).find_first_not_of('?'), std::string::npos) << text;
  }
}

// Every character of Unicode, as its own string.
TEST(PlainText, escaped_text_is_json_and_printable_yaml_and_reads_back) {
  for (char32_t code = 1; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    const std::string text = utf8(code);
    const std::string quoted = in_double_quotes(text);
    if (quoted == '"' + text + '"') {
      ASSERT_TRUE(yaml_may_have(code)) << static_cast<std::uint32_t>(code);
    } else if (code <= 0xFFFF) {
      ASSERT_EQ(nlohmann::json::parse(quoted).get<std::string>(), text)
          << static_cast<std::uint32_t>(code);
    }
  }
}

TEST(PlainText, yaml_reads_back_what_was_escaped) {
  const std::string text = "a\"b\\c\n\t\xc2\x85\xe2\x80\xa8\xe2\x80\xae\x1b é";
  Diagnostics problems;
  const auto tree = parse_tree({.file = "x", .text = "k: " + in_double_quotes(text)}, problems);
  ASSERT_TRUE(tree) << problems.to_text();
  EXPECT_EQ(tree->find("k")->value.text, text);
}

TEST(PlainText, json_of_one_line_stays_the_same_json) {
  const nlohmann::json json{{"name", "a\"\xc2\x9b\xe2\x80\xa8é"}, {"n", 3}};
  const std::string line = json_as_yaml(json.dump());
  EXPECT_TRUE(is_plain_text(line)) << line;
  EXPECT_EQ(nlohmann::json::parse(line), json);
}

TEST(PlainText, names_are_short_plain_and_no_formula) {
  EXPECT_EQ(wrong_as_name("8x H100 (ring)"), "");
  EXPECT_NE(wrong_as_name(""), "");
  EXPECT_NE(wrong_as_name(std::string(101, 'a')), "");
  EXPECT_NE(wrong_as_name("a\xc2\x9b"
                          "b"),
            "");
  for (const char* formula :
       {"=1+1", "+1", "-1", "@SUM(A1)", " =1+1", "\xc2\xa0=1", "\xe3\x80\x80 @A"}) {
    EXPECT_NE(wrong_as_name(formula), "") << formula;
  }
  EXPECT_EQ(wrong_as_name(" 1 = 1"), "");
  EXPECT_NE(wrong_as_name("  "), "");
}

// U+00AD, U+034F, U+115F, U+17B4, U+180E, U+200B, U+200D, U+3164, U+FE0F, U+FFA0: two names that
// look the same would be two.
TEST(PlainText, names_hold_nothing_that_takes_no_room) {
  for (const char32_t code :
       std::initializer_list<char32_t>{0xAD, 0x34F, 0x115F, 0x17B4, 0x180E, 0x200B, 0x200C, 0x200D,
                                       0x3164, 0xFE0F, 0xFEFF, 0xFFA0, 0x1D173, 0xE0100}) {
    EXPECT_NE(wrong_as_name("a" + utf8(code) + "b"), "") << static_cast<std::uint32_t>(code);
  }
  EXPECT_EQ(wrong_as_name("\xe4\xb8\x80\xe5\x8f\xb7"), "");  // two letters
}

TEST(PlainText, bytes_of_a_name_as_utf8_are_of_no_other_name) {
  EXPECT_EQ(utf8_of_bytes("caf\xc3\xa9.csv"), "caf\xc3\xa9.csv");
  EXPECT_EQ(utf8_of_bytes("a\xff\xc3"), "a\\xFF\\xC3");
  EXPECT_EQ(utf8_of_bytes("a\\xFF"), "a\\\\xFF");
}

}  // namespace
}  // namespace weft::plain_text_test
