// The points of a sweep that is not run (--dry-run).
#pragma once

#include <vector>

#include "sim/sweep/sweep_rows.h"

namespace weft {

// Prints them, and what is wrong with them; the exit code.
int print_points(const SweepPlan& plan, const std::vector<SweepRow>& rows);

}  // namespace weft
