// results.csv: a line a row, the axes first (docs/results.md).
#pragma once

#include <string>
#include <vector>

#include "sim/sweep/row.h"

namespace weft {

// A column for every number and word that any of the rows has. The same rows, the same bytes:
// nothing in it depends on when or where they were run.
std::string results_csv(const std::vector<Row>& rows, const std::vector<AxisColumn>& axes);

}  // namespace weft
