#include "sim/report/csv_line.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <system_error>

#include "sim/core/plain_text.h"

namespace weft {
namespace {

bool is_number(std::string_view field) {
  double number = 0;
  const char* end = field.data() + field.size();
  if (field.starts_with('+')) field.remove_prefix(1);
  const auto [read, error] = std::from_chars(field.data(), end, number);
  return error == std::errc() && read == end;
}

// An apostrophe tells spreadsheets that what follows is text.
std::string quoted(std::string field) {
  if (begins_as_formula(field) && !is_number(field)) field.insert(0, 1, '\'');
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + "\"";
}

}  // namespace

std::string csv_line(const std::vector<std::string>& row) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : ",") + quoted(row[i]);
  return line + "\n";
}

std::string csv_text(double number) { return fmt::format("{}", number); }

}  // namespace weft
