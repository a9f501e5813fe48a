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

}  // namespace

std::string csv_line(const std::vector<std::string>& row) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : ",") + quoted(row[i]);
  return line + "\n";
}

std::string csv_header(ResultFile file) { return csv_line(columns(file)); }

std::string csv_line(const std::vector<std::string>& row, ResultFile file) {
  SIM_ASSERT(row.size() == columns(file).size());
  return csv_line(row);
}

std::string csv_text(double number) { return fmt::format("{}", number); }

}  // namespace weft
