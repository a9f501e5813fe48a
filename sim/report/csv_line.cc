#include "sim/report/csv_line.h"

#include <fmt/format.h>

#include "sim/core/assert.h"

namespace weft {
namespace {

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + "\"";
}

std::string line_of(const std::vector<std::string>& row) {
  std::string line;
  for (const std::string& field : row) {
    if (!line.empty()) line += ',';
    line += quoted(field);
  }
  return line + "\n";
}

}  // namespace

// The first column is never empty, so a line without text is a line not begun.
std::string csv_header(ResultFile file) { return line_of(columns(file)); }

std::string csv_line(const std::vector<std::string>& row, ResultFile file) {
  SIM_ASSERT(row.size() == columns(file).size());
  return line_of(row);
}

std::string csv_text(double number) { return fmt::format("{}", number); }

}  // namespace weft
