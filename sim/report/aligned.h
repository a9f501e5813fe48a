// Tables for a terminal.
#pragma once

#include <string>
#include <vector>

namespace weft {

using TableRow = std::vector<std::string>;

// Columns as wide as their widest text. All rows have as many as the first.
std::string aligned(std::vector<TableRow> rows);

}  // namespace weft
