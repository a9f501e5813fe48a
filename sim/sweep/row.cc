#include "sim/sweep/row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "sim/core/plain_text.h"
#include "sim/files/checksum.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kWholeAbove = 9e15;  // doubles beyond have no fractions to show

Json json_of(const Cell& cell) {
  if (const auto* words = std::get_if<std::string>(&cell)) return *words;
  const double number = std::get<double>(cell);
  const bool whole = std::trunc(number) == number && std::abs(number) < kWholeAbove;
  return whole ? Json(static_cast<std::int64_t>(number)) : Json(number);
}

Cell cell_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return std::string();
}

std::string text_of(const Json& json, int indent) {
  // A path may hold any bytes; JSON is UTF-8.
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<Json> parse(std::string_view text) {
  if (check_checksum(text) == Checked::wrong) return std::nullopt;
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return json;
}

// What a table is made of; all else of a summary is only passed on.
bool has_modes(const Json& summary) {
  const auto is_object = [](const Json& json) { return json.is_object(); };
  const auto all_objects = [&](const char* key) {
    const auto found = summary.find(key);
    return found != summary.end() && found->is_object() &&
           std::all_of(found->begin(), found->end(), is_object);
  };
  if (!summary.is_object() || !all_objects("modes")) return false;
  if (!summary.contains("speedup") || !summary["speedup"].is_object()) return false;
  if (!summary.contains("c3")) return true;
  const Json& c3 = summary["c3"];
  return c3.is_object() && c3.contains("strategies") && c3["strategies"].is_object() &&
         std::all_of(c3["strategies"].begin(), c3["strategies"].end(), is_object);
}

std::optional<Row> row_from(const Json& json, const std::vector<AxisColumn>& axes) {
  Row row{.row = json.at("row").get<std::size_t>(),
          .point = json.at("point").get<std::string>(),
          .version = json.at("version").get<std::string>(),
          .cells = {},
          .command = json.at("command").get<std::string>(),
          .outcome = {.ok = json.at("status") == "ok",
                      .error = json.at("error").get<std::string>(),
                      .exit_code = json.at("exit_code").get<int>(),
                      .summary = ""}};
  const Json& cells = json.at("axes");
  for (const AxisColumn& axis : axes) {
    row.cells.push_back(cell_of(cells.contains(axis.column) ? cells.at(axis.column) : Json()));
  }
  if (!row.outcome.ok) return row;
  if (!has_modes(json.at("summary"))) return std::nullopt;
  row.outcome.summary = json.at("summary").dump();
  return row;
}

}  // namespace

std::string to_json(const SweepInfo& info) {
  Json axes = Json::array();
  for (const AxisColumn& axis : info.axes) {
    axes.push_back({{"key", axis.key}, {"column", axis.column}});
  }
  Json json = {{"name", info.name},
               {"scenario", info.scenario},
               {"version", info.version},
               {"command", info.command},
               {"axes", axes},
               {"points", info.points}};
  if (!info.shard.empty()) json["shard"] = info.shard;
  return with_checksum(text_of(json, 2));
}

std::optional<SweepInfo> parse_sweep_json(std::string_view text) {
  const std::optional<Json> json = parse(text);
  if (!json) return std::nullopt;
  try {
    SweepInfo info{.name = json->at("name").get<std::string>(),
                   .scenario = json->at("scenario").get<std::string>(),
                   .version = json->at("version").get<std::string>(),
                   .command = json->at("command").get<std::string>(),
                   .axes = {},
                   .points = json->at("points").get<std::size_t>(),
                   .shard = json->value("shard", ""),
                   .checked = check_checksum(text) == Checked::right};
    for (const Json& axis : json->at("axes")) {
      info.axes.push_back({.key = axis.at("key").get<std::string>(),
                           .column = axis.at("column").get<std::string>()});
    }
    return info;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string line_of(const Row& row, const std::vector<AxisColumn>& axes) {
  Json cells = Json::object();
  for (std::size_t i = 0; i < axes.size(); ++i) cells[axes[i].column] = json_of(row.cells[i]);
  const PointOutcome& outcome = row.outcome;
  Json json = {{"row", row.row},
               {"point", row.point},
               {"version", row.version},
               {"status", outcome.ok ? "ok" : "failed"},
               {"axes", cells},
               {"error", outcome.error},
               {"exit_code", outcome.exit_code},
               {"command", row.command}};
  if (outcome.ok) json["summary"] = Json::parse(outcome.summary);
  const std::string line = text_of(json, -1);
  return row.checked ? with_checksum(line) : line;
}

std::optional<Row> parse_row(std::string_view line, const std::vector<AxisColumn>& axes) {
  const std::optional<Json> json = parse(line);
  if (!json) return std::nullopt;
  try {
    std::optional<Row> row = row_from(*json, axes);
    if (row) row->checked = check_checksum(line) == Checked::right;
    return row;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string one_line(const Diagnostics& problems) {
  std::string text;
  for (const Diagnostic& problem : problems.all()) {
    if (problem.severity != Severity::error) continue;
    if (!text.empty()) text += "; ";
    text += problem.at.file;
    if (problem.at.line > 0) text += fmt::format(":{}:{}", problem.at.line, problem.at.column);
    text += ": " + (problem.path.empty() ? "" : problem.path + ": ") + problem.message;
  }
  for (char& letter : text) {
    if (letter == '\n') letter = ' ';
  }
  return printable(text);
}

}  // namespace weft
