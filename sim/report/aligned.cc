#include "sim/report/aligned.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/core/plain_text.h"

namespace weft {

std::string aligned(std::vector<TableRow> rows) {
  for (TableRow& row : rows) {
    for (std::string& cell : row) cell = printable_line(cell);
  }
  std::vector<std::size_t> width(rows.front().size());
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string text;
  for (const TableRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < width.size(); ++i)
      line += fmt::format("{:<{}}   ", row[i], width[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace weft
