// What the tables of a sweep hold for a point: the values of its summary.json, each with its mode
// and field. results.csv and results_long.csv are two ways of writing them.
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

// None for an empty text.
std::vector<SummaryValue> summary_values(const std::string& summary);

// Its column in results.csv: "fused_time_us".
std::string column_of(const SummaryValue& value);

}  // namespace weft
