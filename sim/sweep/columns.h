// The columns of results.csv.
#pragma once

#include <string>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/scenario/sweep_file.h"

namespace weft {

// "wait_us.post" is "wait_post_us": a column's name ends in its unit.
std::string column_of_field(const std::string& path);

// Gives every key a column: as given, or as many last parts of its path as tell it from the others,
// and the unit. Names that are not free become problems.
void name_columns(std::vector<SweepAxis>& axes, Diagnostics& problems);

}  // namespace weft
