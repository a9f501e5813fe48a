// The columns of results.csv.
#pragma once

#include <string>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/scenario/sweep_file.h"

namespace weft {

// Gives every key a column: as given, or as many last parts of its path as tell it from the others,
// and the unit. Names that are not free become problems.
void name_columns(std::vector<SweepAxis>& axes, Diagnostics& problems);

}  // namespace weft
