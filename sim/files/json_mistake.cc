#include "sim/files/json_mistake.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace weft {
namespace {

constexpr int kOutOfRange = 406;  // the parser's number of this mistake

// The parser's own exceptions do not say where a number is that is too large.
struct FirstMistake : nlohmann::json_sax<nlohmann::json> {
  std::size_t byte = 0;
  int id = 0;
  std::string what;
  std::string token;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string& last,
                   const nlohmann::detail::exception& error) override {
    byte = position;
    id = error.id;
    what = error.what();
    token = last;
    return false;
  }
};

// "... while parsing object key - unexpected end of input; expected string literal"
std::string text_of(const FirstMistake& mistake) {
  if (mistake.id == kOutOfRange) {
    return fmt::format("the number {} is too large", mistake.token);
  }
  constexpr std::string_view kWhile = "while parsing ";
  constexpr std::string_view kThen = " - ";
  const std::string& what = mistake.what;
  const std::size_t in = what.find(kWhile);
  const std::size_t then = what.find(kThen, in);
  if (in == std::string::npos || then == std::string::npos) return "a mistake";
  const std::string part = what.substr(in + kWhile.size(), then - in - kWhile.size());
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kParts = {
      {{"value", "where a value should be"},
       {"object key", "where a key of an object should be"},
       {"object separator", "after a key of an object"},
       {"object", "in an object"},
       {"array", "in a list"}}};
  const auto* const known = std::find_if(kParts.begin(), kParts.end(),
                                         [&](const auto& named) { return named.first == part; });
  return fmt::format("{}: {}", known == kParts.end() ? part : known->second,
                     what.substr(then + kThen.size()));
}

}  // namespace

std::optional<JsonMistake> first_json_mistake(std::string_view text, bool first_only) {
  FirstMistake mistake;
  if (nlohmann::json::sax_parse(text, &mistake, nlohmann::json::input_format_t::json, !first_only))
    return std::nullopt;
  // The byte is counted from 1; of an end that comes too early it is the one behind it, of a number
  // that is too large its last.
  std::size_t at = std::min(mistake.byte == 0 ? 0 : mistake.byte - 1, text.size());
  if (mistake.id == kOutOfRange) at = std::min(text.rfind(mistake.token, at), at);
  const std::string_view before = text.substr(0, at);
  const std::size_t line_begins = before.rfind('\n') + 1;  // npos + 1 is 0
  return JsonMistake{.line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
                     .column = static_cast<int>(before.size() - line_begins) + 1,
                     .words = text_of(mistake)};
}

std::string text_of(const JsonMistake& mistake) {
  return fmt::format("not JSON at line {}, column {}: {}", mistake.line, mistake.column,
                     mistake.words);
}

}  // namespace weft
