#include "sim/html/sweep_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "sim/report/field_names.h"
#include "sim/report/mode_fields.h"

namespace weft {
namespace {

const std::string kTime = std::string("_") + kTimeField;

// Columns of the file by mode and field.
struct ModeColumns {
  std::vector<std::string> modes;
  std::vector<std::string> fields;
  std::map<std::pair<std::string, std::string>, std::size_t> at;
};

// Names of modes have underscores too: of several that a column begins with, the longest.
std::string mode_of(const std::string& column, const std::vector<std::string>& modes) {
  std::string best;
  for (const std::string& mode : modes) {
    if (column.starts_with(mode + "_") && mode.size() > best.size()) best = mode;
  }
  return best;
}

// An order in which the reader wants to choose them; else as in the file.
int rank(const std::string& field) {
  if (field == kTimeField) return 0;
  return is_speedup(field) ? 1 : 2;
}

ModeColumns mode_columns(const CsvTable& csv) {
  ModeColumns found;
  for (const std::string& column : csv.columns) {
    if (column.ends_with(kTime)) {
      found.modes.push_back(column.substr(0, column.size() - kTime.size()));
    }
  }
  for (std::size_t i = 0; i < csv.columns.size(); ++i) {
    const std::string mode = mode_of(csv.columns[i], found.modes);
    if (mode.empty()) continue;
    const std::string field = field_of_column(csv.columns[i], mode);
    if (mode_column(field).as == ShownAs::text) continue;  // a hash may look like a number
    found.at[{mode, field}] = i;
    if (std::find(found.fields.begin(), found.fields.end(), field) == found.fields.end()) {
      found.fields.push_back(field);
    }
  }
  std::stable_sort(found.fields.begin(), found.fields.end(),
                   [](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return found;
}

bool all_numbers(const CsvTable& csv, std::size_t column) {
  return std::all_of(csv.rows.begin(), csv.rows.end(), [&](const CsvTable::Row& row) {
    return row.fields[column].empty() || number_of(row.fields[column]);
  });
}

// Names, classes and hashes are not drawn. What has a unit must be a number.
void drop_texts(ModeColumns& columns, const CsvTable& csv, Diagnostics& problems) {
  std::erase_if(columns.fields, [&](const std::string& field) {
    bool numbers = true;
    for (const std::string& mode : columns.modes) {
      const auto at = columns.at.find({mode, field});
      if (at == columns.at.end() || all_numbers(csv, at->second)) continue;
      numbers = false;
      if (mode_column(field).as == ShownAs::number) continue;
      for (const CsvTable::Row& row : csv.rows) {
        const std::string& cell = row.fields[at->second];
        if (cell.empty() || number_of(cell)) continue;
        add_problem(problems, csv.file, row.line, csv.columns[at->second],
                    fmt::format("'{}' is not a number", cell));
      }
    }
    return !numbers;
  });
}

JsonValue value_of(const std::string& text) {
  if (text.empty()) return nullptr;
  if (const auto number = number_of(text)) return *number;
  return text;
}

struct Fixed {
  std::vector<std::size_t> axes;
  std::size_t status = 0;
  std::size_t error = 0;
};

std::optional<Fixed> fixed_columns(const CsvTable& csv, const std::vector<std::string>& axes,
                                   Diagnostics& problems) {
  Diagnostics found;
  const auto index = [&](const std::string& name) {
    return column_index(csv, name, found).value_or(0);
  };
  Fixed fixed;
  fixed.axes.reserve(axes.size());
  for (const std::string& axis : axes) fixed.axes.push_back(index(axis));
  fixed.status = index("status");
  fixed.error = index("error");
  problems.append(found);
  if (found.has_errors()) return std::nullopt;
  return fixed;
}

std::string point_text(const CsvTable& csv, const CsvTable::Row& row, const Fixed& fixed) {
  std::string text;
  for (const std::size_t axis : fixed.axes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", csv.columns[axis], row.fields[axis]);
  }
  return text;
}

void add_point(SweepResults& results, const CsvTable::Row& row, const Fixed& fixed,
               const ModeColumns& columns, const std::vector<bool>& axis_is_number) {
  for (const std::string& mode : columns.modes) {
    if (row.fields[columns.at.at({mode, kTimeField})].empty()) continue;
    std::vector<JsonValue> values;
    for (std::size_t i = 0; i < fixed.axes.size(); ++i) {
      const std::string& cell = row.fields[fixed.axes[i]];
      values.push_back(axis_is_number[i] ? value_of(cell) : JsonValue(cell));
    }
    values.emplace_back(mode);
    for (const std::string& field : columns.fields) {
      const auto at = columns.at.find({mode, field});
      values.push_back(at == columns.at.end() ? JsonValue() : value_of(row.fields[at->second]));
    }
    results.points.rows.push_back(std::move(values));
  }
}

}  // namespace

SweepResults sweep_results(const CsvTable& csv, const std::vector<std::string>& axes,
                           Diagnostics& problems) {
  SweepResults results;
  const auto fixed = fixed_columns(csv, axes, problems);
  if (!fixed) return results;
  ModeColumns columns = mode_columns(csv);
  const bool any_ok = std::any_of(csv.rows.begin(), csv.rows.end(), [&](const CsvTable::Row& row) {
    return row.fields[fixed->status] == "ok";
  });
  if (columns.modes.empty() && any_ok) {
    add_problem(problems, csv.file, 1, "",
                "no column with a mode's time, such as bulk_time_us or fused_time_us");
  }
  drop_texts(columns, csv, problems);
  results.fields = columns.fields;
  results.rows = csv.rows.size();
  results.points.name = "points";
  std::vector<bool> axis_is_number;
  for (const std::size_t axis : fixed->axes) {
    axis_is_number.push_back(all_numbers(csv, axis));
    results.points.columns.push_back(axis_column(csv.columns[axis], axis_is_number.back()));
  }
  tell_apart(results.points.columns);
  results.points.columns.push_back(mode_column("mode"));
  for (const std::string& field : columns.fields) {
    results.points.columns.push_back(mode_column(field));
  }
  for (const CsvTable::Row& row : csv.rows) {
    const std::string& status = row.fields[fixed->status];
    if (status == "ok") {
      add_point(results, row, *fixed, columns, axis_is_number);
    } else if (status == "failed") {
      results.failed.push_back(
          fmt::format("{}: {}", point_text(csv, row, *fixed), row.fields[fixed->error]));
    } else {
      add_problem(problems, csv.file, row.line, "status",
                  fmt::format("'{}'; must be ok or failed", status));
    }
  }
  return results;
}

}  // namespace weft
