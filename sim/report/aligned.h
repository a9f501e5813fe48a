// Tables for a terminal.
#pragma once

#include <string>
#include <vector>

namespace weft {

using TableRow = std::vector<std::string>;

// Each column is as wide as its widest text. All rows have as many columns as the first.
std::string aligned(std::vector<TableRow> rows);

}  // namespace weft
