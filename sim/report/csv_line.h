// Lines of CSV files: quoted where necessary, without text that a spreadsheet takes for a
// formula.
#pragma once

#include <string>
#include <vector>

namespace weft {

std::string csv_line(const std::vector<std::string>& row);
// The shortest text that reads back as the same number.
std::string csv_text(double number);

}  // namespace weft
