// What a table of a sweep has of a point: the numbers and words of its summary.json, each by its
// mode and field. results.csv and results_long.csv are two ways of writing them.
#pragma once

#include <string>
#include <vector>

#include "sim/report/unit.h"

namespace weft {

// Groups of columns of results.csv, in their order.
enum class ColumnGroup { modes, parts, speedups, c3 };

struct SummaryValue {
  ColumnGroup group;
  std::string mode;   // empty: of the whole point
  std::string field;  // "time_us", "speedup_vs_bulk"
  std::string text;
  Unit unit;
};

// Nothing of an empty text.
std::vector<SummaryValue> summary_values(const std::string& summary);

// Its column of results.csv: "fused_time_us".
std::string column_of(const SummaryValue& value);

}  // namespace weft
