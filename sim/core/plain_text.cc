#include "sim/core/plain_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/core/byte_names.h"

namespace weft {
namespace {

constexpr char32_t kNone = 0xFFFFFFFF;  // not UTF-8

struct Character {
  char32_t code = kNone;
  std::size_t bytes = 1;
};

// The first of `text`, which is not empty.
Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {.code = lead, .bytes = 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80) return {};
    code = code << 6U | (next & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[bytes] || surrogate || code > 0x10FFFF) return {};
  return {.code = code, .bytes = bytes};
}

bool is_plain(char32_t code) {
  struct Range {
    char32_t first;
    char32_t last;
  };
  constexpr std::array kCommands = {
      Range{0x0, 0x1F},
      Range{0x7F, 0x9F},
      Range{0x2028, 0x202E},
      Range{0xFDD0, 0xFDEF},
      Range{0xFFF0, 0xFFFB},
      Range{0x110000, kNone},
      // What Unicode says to show nothing for (Default_Ignorable_Code_Point): two names that differ
      // only in these look alike.
      Range{0xAD, 0xAD},
      Range{0x34F, 0x34F},
      Range{0x61C, 0x61C},
      Range{0x115F, 0x1160},
      Range{0x17B4, 0x17B5},
      Range{0x180B, 0x180F},
      Range{0x200B, 0x200F},
      Range{0x2060, 0x206F},
      Range{0x3164, 0x3164},
      Range{0xFE00, 0xFE0F},
      Range{0xFEFF, 0xFEFF},
      Range{0xFFA0, 0xFFA0},
      Range{0x1BCA0, 0x1BCA3},
      Range{0x1D173, 0x1D17A},
      Range{0xE0000, 0xE0FFF},
  };
  if ((code & 0xFFFEU) == 0xFFFE) return false;  // the last two of every plane are noncharacters
  return std::none_of(kCommands.begin(), kCommands.end(), [code](const Range& range) {
    return range.first <= code && code <= range.last;
  });
}

// Blanks of any width (Unicode's separators of words).
bool is_blank(char32_t code) {
  return code == ' ' || code == '\t' || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x202F || code == 0x205F || code == 0x3000;
}

std::string_view without_leading_blanks(std::string_view text) {
  while (!text.empty()) {
    const Character next = first_of(text);
    if (!is_blank(next.code)) break;
    text.remove_prefix(next.bytes);
  }
  return text;
}

// Everything beyond U+FFFF that is not plain is a noncharacter or invisible.
void append_escape(std::string& out, char32_t code) {
  if (code == '\n' || code == '\t' || code == '\r') {
    out += code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r";
    return;
  }
  if (code > 0xFFFF) code = 0xFFFD;
  out += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) out += "0123456789abcdef"[code >> shift & 15U];
}

// `take` gets each character and its bytes in the text.
template <class Take>
void each_character(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const Character next = first_of(text);
    take(next.code, text.substr(0, next.bytes));
    text.remove_prefix(next.bytes);
  }
}

enum class Marks { are_text, are_json };

std::string escaped(std::string_view text, Marks marks) {
  std::string out;
  each_character(text, [&](char32_t code, std::string_view bytes) {
    if (!is_plain(code)) return append_escape(out, code);
    if (marks == Marks::are_text && (code == '"' || code == '\\')) out += '\\';
    out += bytes;
  });
  return out;
}

// `kept` are controls that stay.
std::string with_marks(std::string_view text, std::string_view kept) {
  std::string out;
  each_character(text, [&](char32_t code, std::string_view bytes) {
    const bool stays = is_plain(code) || kept.find(bytes) != std::string_view::npos;
    out += stays ? bytes : "?";
  });
  return out;
}

}  // namespace

std::string utf8_of_bytes(std::string_view bytes) {
  std::string out;
  each_character(bytes, [&](char32_t code, std::string_view character) {
    if (code == '\\') {
      out += "\\\\";
    } else if (code != kNone) {
      out += character;
    } else {
      const auto byte = static_cast<unsigned char>(character.front());
      out += "\\x";
      for (const unsigned shift : {4U, 0U}) out += "0123456789ABCDEF"[(byte >> shift) & 15U];
    }
  });
  return out;
}

bool is_plain_text(std::string_view text) {
  bool plain = true;
  each_character(text, [&](char32_t code, std::string_view) { plain = plain && is_plain(code); });
  return plain;
}

std::string printable(std::string_view text) { return with_marks(text, "\t\n"); }

std::string printable_line(std::string_view text) { return with_marks(text, "\t"); }

std::string escaped(std::string_view text) { return escaped(text, Marks::are_text); }

std::string in_double_quotes(std::string_view text) { return '"' + escaped(text) + '"'; }

std::string json_as_yaml(std::string_view json) { return escaped(json, Marks::are_json); }

std::string wrong_as_name(std::string_view text, std::size_t longest) {
  if (without_leading_blanks(text).empty() || text.size() > longest || !is_plain_text(text)) {
    return "must be 1 to " + std::to_string(longest) + " characters on one line" +
           (is_plain_text(text) ? "" : ", all of them visible");
  }
  if (begins_as_formula(text)) {
    return "must not begin with = + - or @, which spreadsheets read as a formula";
  }
  return "";
}

bool begins_as_formula(std::string_view text) {
  text = without_leading_blanks(text);
  return !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos;
}

}  // namespace weft
