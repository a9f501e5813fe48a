#include "sim/sweep/results_csv.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/report/csv_line.h"
#include "sim/sweep/columns.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) {
  if (value.is_number_float()) return csv_text(value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string text_of(const Cell& cell) {
  const auto* number = std::get_if<double>(&cell);
  return number == nullptr ? std::get<std::string>(cell) : csv_text(*number);
}

// The columns of results, in groups, and what a row has of them.
class ResultColumns {
 public:
  // What the row has, by the number of the column.
  using Cells = std::map<std::pair<std::size_t, std::size_t>, std::string>;

  Cells read(const std::string& summary) {
    Cells cells;
    if (summary.empty()) return cells;
    const Json json = Json::parse(summary);
    for (const auto& [mode, fields] : json.at("modes").items()) add_mode(mode, fields, cells);
    for (const auto& [name, ratio] : json.at("speedup").items()) {
      add(kSpeedups, name + "_speedup", ratio, cells);
    }
    if (json.contains("c3")) add_c3(json.at("c3"), cells);
    return cells;
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Group& group : groups_)
      all.insert(all.end(), group.names.begin(), group.names.end());
    return all;
  }

  [[nodiscard]] std::vector<std::string> in_order(const Cells& cells) const {
    std::vector<std::string> row;
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      for (std::size_t i = 0; i < groups_[group].names.size(); ++i) {
        const auto found = cells.find({group, i});
        row.push_back(found == cells.end() ? "" : found->second);
      }
    }
    return row;
  }

 private:
  enum GroupName { kModes, kParts, kSpeedups, kC3, kGroups };
  struct Group {
    std::vector<std::string> names;
    std::map<std::string, std::size_t> numbers;
  };

  void add(GroupName name, const std::string& column, const Json& value, Cells& cells) {
    Group& group = groups_[name];
    const auto [found, fresh] = group.numbers.try_emplace(column, group.names.size());
    if (fresh) group.names.push_back(column);
    cells[{name, found->second}] = text_of(value);
  }

  void add_mode(const std::string& mode, const Json& fields, Cells& cells) {
    for (const auto& [field, value] : fields.items()) {
      if (field == "parts") {
        for (const auto& [part, times] : value.items()) {
          for (const auto& [time, us] : times.items()) {
            add(kParts, fmt::format("{}_{}_{}", mode, part, time), us, cells);
          }
        }
      } else if (value.is_object()) {
        for (const auto& [inner, number] : value.items()) {
          add(kModes,
              fmt::format("{}_{}", mode, column_of_field(fmt::format("{}.{}", field, inner))),
              number, cells);
        }
      } else {
        add(kModes, fmt::format("{}_{}", mode, field), value, cells);
      }
    }
  }

  void add_c3(const Json& c3, Cells& cells) {
    for (const auto& [field, value] : c3.items()) {
      if (field != "strategies") add(kC3, "c3_" + field, value, cells);
    }
    for (const auto& [mode, fields] : c3.at("strategies").items()) {
      for (const auto& [field, value] : fields.items()) {
        if (!value.is_structured()) add(kC3, fmt::format("{}_{}", mode, field), value, cells);
      }
    }
  }

  std::array<Group, kGroups> groups_;
};

}  // namespace

std::string results_csv(const std::vector<Row>& rows, const std::vector<AxisColumn>& axes) {
  ResultColumns columns;
  std::vector<ResultColumns::Cells> cells;
  cells.reserve(rows.size());
  for (const Row& row : rows) cells.push_back(columns.read(row.outcome.summary));

  std::vector<std::string> header;
  header.reserve(axes.size());
  for (const AxisColumn& axis : axes) header.push_back(axis.column);
  header.insert(header.end(), {"point", "status", "error"});
  const std::vector<std::string> names = columns.names();
  header.insert(header.end(), names.begin(), names.end());
  std::string csv = csv_line(header);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> line;
    line.reserve(header.size());
    for (const Cell& cell : rows[i].cells) line.push_back(text_of(cell));
    const PointOutcome& outcome = rows[i].outcome;
    line.insert(line.end(), {rows[i].point, outcome.ok ? "ok" : "failed", outcome.error});
    const std::vector<std::string> results = columns.in_order(cells[i]);
    line.insert(line.end(), results.begin(), results.end());
    csv += csv_line(line);
  }
  return csv;
}

}  // namespace weft
