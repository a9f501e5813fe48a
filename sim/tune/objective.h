// What a search wants: a column of results.csv, as small or as large as can be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/mode_fields.h"
#include "sim/report/unit.h"

namespace weft {

struct Objective {
  // "fused_mfu", or a field of every mode, "mfu": then that of the best mode. c3's halves
  // alone are no modes to choose.
  std::string column = kTimeField;
  bool larger_is_better = false;
  [[nodiscard]] bool is_time() const;  // of the run: what a lower bound is known of
};

struct Achieved {
  double value = 0;  // in the column's unit
  std::string mode;  // whose it is
  Unit unit = Unit::count;
};

// Nothing: the results do not have the column.
std::optional<Achieved> achieved(const Objective& objective, const std::string& summary);

// Smaller is better, whatever is wanted; above 0: values of 0 and less are alike.
double cost_of(const Objective& objective, double value);

// Columns that results have, for messages.
std::vector<std::string> columns_in(const std::string& summary);

}  // namespace weft
