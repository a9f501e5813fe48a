// Lines of CSV files: quoted where they have to be, no text that a spreadsheet takes for a formula,
// and as many fields as the file has columns.
#pragma once

#include <string>
#include <vector>

#include "sim/report/fields.h"

namespace weft {

std::string csv_header(ResultFile file);
// Aborts unless the row has one field a column.
std::string csv_line(const std::vector<std::string>& row, ResultFile file);
// Of a file whose columns are not in the table.
std::string csv_line(const std::vector<std::string>& row);
// The shortest text that reads back as the same number.
std::string csv_text(double number);

}  // namespace weft
