// The columns of results.csv.
#pragma once

#include <string>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/scenario/sweep_file.h"

namespace weft {

// Names every key's column: as given, or by the fewest last parts of its path that distinguish it
// from the others, and the unit. Names that are already taken become problems.
void name_columns(std::vector<SweepAxis>& axes, Diagnostics& problems);

}  // namespace weft
