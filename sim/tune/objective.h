// What a search wants: a column of results.csv, as small or as large as can be; or several.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/mode_fields.h"
#include "sim/report/unit.h"
#include "sim/run/scenario_run.h"

namespace weft {

struct Objective {
  // "fused_mfu", or a field of every mode, "mfu": then that of the best mode. c3's halves
  // alone are no modes to choose.
  std::string column = kTimeField;
  bool larger_is_better = false;
};

struct Achieved {
  double value = 0;  // in the column's unit
  std::string mode;  // whose it is
  Unit unit = Unit::count;
};

// Nothing: the results do not have the column.
std::optional<Achieved> achieved(const Objective& objective, const std::string& summary);

// Of several at least one. The first says which mode of a point counts; the others are of that
// mode, unless they name another: "bulk_time_us".
using Objectives = std::vector<Objective>;

// Of each; nothing: the results lack one of them.
std::optional<std::vector<Achieved>> all_achieved(const Objectives& objectives,
                                                  const std::string& summary);

// What no result of this run can be better than, by the time that none of its modes can be below:
// that time, or what it would achieve in it (rates.h). Of each; nothing: of its column no such is
// known.
std::vector<std::optional<double>> bounds_of(const Objectives& objectives, const ScenarioRun& run);
// Whether of the column such is known.
bool is_bounded(const Objective& objective);

// Smaller is better, whatever is wanted; above 0: values of 0 and less are alike.
double cost_of(const Objective& objective, double value);

std::vector<double> costs_of(const Objectives& objectives, const std::vector<Achieved>& achieved);

// The sets of a search for these objectives: ends of ranges are in results that are asked for them
// (run.range), which is added unless it is said.
std::vector<std::string> with_ranges(std::vector<std::string> sets, const Objectives& objectives);

// Columns that results have, for messages.
std::vector<std::string> columns_in(const std::string& summary);

}  // namespace weft
