#include "sim/html/sweep_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/core/plural.h"
#include "sim/html/json_check.h"
#include "sim/html/run_tables.h"
#include "sim/html/sweep_results.h"
#include "sim/report/field_names.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

struct Sweep {
  std::string name;
  std::string scenario;
  std::string version;
  std::string command;  // may be empty
  std::string shard;    // "2/4"; empty: the whole sweep
  std::vector<std::string> axes;
  std::size_t points = 0;
};

std::vector<std::string> axes_of(const JsonValue& json, JsonCheck& check) {
  std::vector<std::string> axes;
  const auto found = json.find("axes");
  if (found == json.end() || !found->is_array() || found->empty()) {
    check.fail("", "axes", found == json.end(), "a list of at least one axis");
    return axes;
  }
  for (std::size_t i = 0; i < found->size(); ++i) {
    const std::string path = fmt::format("axes.{}", i);
    if (!(*found)[i].is_object()) {
      check.fail("", path, false, "an object with key and column");
      continue;
    }
    axes.push_back(check.text((*found)[i], "column", path));
  }
  return axes;
}

Sweep sweep_of(const JsonValue& json, JsonCheck check) {
  Sweep sweep;
  sweep.name = check.text(json, "name");
  sweep.scenario = check.text(json, "scenario");
  sweep.version = check.text(json, "version");
  if (json.contains("command")) sweep.command = check.text(json, "command");
  if (json.contains("shard")) sweep.shard = check.text(json, "shard");
  sweep.axes = axes_of(json, check);
  const double points = check.number(json, "points");
  sweep.points = points > 0 ? static_cast<std::size_t>(points) : 0;
  return sweep;
}

std::vector<std::string> with_mode(std::vector<std::string> axes) {
  axes.emplace_back("mode");
  return axes;
}

std::string first_speedup(const SweepResults& results) {
  const auto found = std::find_if(results.fields.begin(), results.fields.end(),
                                  [](const std::string& field) { return is_speedup(field); });
  return found == results.fields.end() ? "" : *found;
}

std::vector<std::string> led_by(std::vector<std::string> all, const std::string& first) {
  const auto found = std::find(all.begin(), all.end(), first);
  if (found != all.end()) std::rotate(all.begin(), found, found + 1);
  return all;
}

Chart bars_chart(const Sweep& sweep, const SweepResults& results) {
  const std::string speedup = first_speedup(results);
  return {.id = "time",
          .title = speedup == "speedup_vs_bulk" ? "Bulk against fused" : "Modes side by side",
          .text = speedup.empty() ? "One bar per mode." : "After the time: how many times as fast.",
          .kind = "bars",
          .table = "points",
          .roles = {choice("category", "Group by", sweep.axes),
                    choice("value", "Show", results.fields), always("series", "mode")},
          .slice = sweep.axes,
          .within = "",
          .label = first_speedup(results),
          .steps = ""};
}

// The first two axes of which neither follows from the other, as those of a zip do; else the first
// two. Not all of their values need to meet: points may have failed.
std::pair<std::size_t, std::size_t> axes_of_a_map(const PageTable& points, std::size_t axes) {
  const auto values = [&](std::size_t x, std::size_t y) {
    std::set<std::pair<JsonValue, JsonValue>> all;
    for (const auto& row : points.rows) all.emplace(row[x], row[y]);
    return all.size();
  };
  std::vector<std::size_t> alone;
  for (std::size_t axis = 0; axis < axes; ++axis) alone.push_back(values(axis, axis));
  for (std::size_t x = 0; x < axes; ++x) {
    for (std::size_t y = x + 1; y < axes; ++y) {
      if (values(x, y) > std::max(alone[x], alone[y])) return {x, y};
    }
  }
  return {0, 1};
}

Chart heat_chart(const Sweep& sweep, const SweepResults& results) {
  Chart heat{.id = "map",
             .title = "Speed-up over two axes",
             .text = "",
             .kind = "heat",
             .table = "points",
             .roles = {},
             .slice = with_mode(sweep.axes),
             .within = "",
             .label = "",
             .steps = ""};
  if (sweep.axes.size() < 2) {
    heat.table.clear();
    heat.text = "A map needs two axes; this sweep has one.";
    return heat;
  }
  const auto [across, up] = axes_of_a_map(results.points, sweep.axes.size());
  Role x = choice("x", "x axis", sweep.axes);
  x.chosen = sweep.axes[across];
  Role y = choice("y", "y axis", sweep.axes);
  y.chosen = sweep.axes[up];
  heat.roles = {x, y, choice("value", "Colour", led_by(results.fields, first_speedup(results)))};
  return heat;
}

Chart lines_chart(const Sweep& sweep, const SweepResults& results) {
  return {.id = "lines",
          .title = "Along one axis",
          .text = "",
          .kind = "lines",
          .table = "points",
          .roles = {choice("x", "x axis", sweep.axes), choice("value", "Show", results.fields),
                    choice("series", "A line for each", led_by(with_mode(sweep.axes), "mode"))},
          .slice = with_mode(sweep.axes),
          .within = "",
          .label = "",
          .steps = ""};
}

Chart sweep_phases(const Sweep& sweep, Chart chart) {
  chart.roles[0] = choice("category", "Group by", sweep.axes);
  chart.slice = sweep.axes;
  chart.within = "mode";
  return chart;
}

// "batch 512, order remote_first".
std::string place_text(const PageTable& table, const std::vector<JsonValue>& row,
                       std::size_t axes) {
  std::string text;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::string value =
        row[i].is_string() ? row[i].get<std::string>() : fmt::format("{}", row[i].get<double>());
    const PageColumn& column = table.columns[i];
    text += fmt::format("{}{} {}{}{}", i == 0 ? "" : ", ", column.title, value,
                        column.unit.empty() ? "" : " ", column.unit);
  }
  return text;
}

// "fused is 0.98x (batch 512) to 1.63x (batch 8192) as fast as bulk.", of each mode.
void add_ranges(const PageTable& table, std::size_t axes, std::size_t column,
                std::vector<std::string>& sentences) {
  using Row = std::vector<JsonValue>;
  struct Range {
    std::string mode;
    const Row* low;
    const Row* high;
  };
  std::vector<Range> ranges;
  for (const Row& row : table.rows) {
    if (row[column].is_null()) continue;
    const auto mode = row[axes].get<std::string>();
    const auto found = std::find_if(ranges.begin(), ranges.end(),
                                    [&](const Range& range) { return range.mode == mode; });
    if (found == ranges.end()) {
      ranges.push_back({mode, &row, &row});
      continue;
    }
    if (row[column] < (*found->low)[column]) found->low = &row;
    if (row[column] > (*found->high)[column]) found->high = &row;
  }
  const std::string other = speedup_name(table.columns[column].name).baseline;
  for (const auto& [mode, low, high] : ranges) {
    sentences.push_back(fmt::format("{} is {:.2f}x ({}) to {:.2f}x ({}) as fast as {}.", mode,
                                    (*low)[column].get<double>(), place_text(table, *low, axes),
                                    (*high)[column].get<double>(), place_text(table, *high, axes),
                                    other));
  }
}

std::vector<std::string> ranges(const PageTable& table, std::size_t axes) {
  std::vector<std::string> sentences;
  for (std::size_t column = axes + 1; column < table.columns.size(); ++column) {
    if (!is_speedup(table.columns[column].name)) continue;
    add_ranges(table, axes, column, sentences);
  }
  return sentences;
}

std::string note_of(const Sweep& sweep, const SweepResults& results) {
  if (results.rows >= sweep.points) return "";
  const std::string so_far = fmt::format("{} of {} {} done", results.rows, sweep.points,
                                         plural(sweep.points, "point is", "points are"));
  if (sweep.shard.empty()) {
    return fmt::format("Not finished: {}; run the same command again for the others.", so_far);
  }
  return fmt::format("Shard {} of a sweep: {}; weft merge combines the shards.", sweep.shard,
                     so_far);
}

std::optional<CsvTable> read_table(const fs::path& folder, Diagnostics& problems) {
  const FileSet files(folder / kFilesOfResult);
  if (!files.problem().empty()) {
    add_problem(problems, folder / kFilesOfResult, 0, "", files.problem());
  }
  const auto text = read_text(folder / kSweepResults, files, problems);
  if (!text) return std::nullopt;
  return parse_csv(folder / kSweepResults, *text, problems);
}

}  // namespace

Page sweep_page(const fs::path& folder, const std::optional<std::string>& results_so_far,
                Diagnostics& problems) {
  const auto json = read_json(folder / kSweepFile, problems);
  const fs::path file = folder / kSweepResults;
  const auto csv =
      results_so_far ? parse_csv(file, *results_so_far, problems) : read_table(folder, problems);
  Sweep sweep;
  if (json) sweep = sweep_of(*json, JsonCheck(folder / kSweepFile, problems));
  Page page;
  if (!csv || csv->columns.empty() || sweep.axes.empty()) return page;
  const SweepResults results = sweep_results(*csv, sweep.axes, problems);
  if (problems.has_errors()) return page;

  page.title = sweep.name;
  page.facts = {
      {"scenario", sweep.scenario},
      {"weft", sweep.version},
      {"points", fmt::format("{} done, {} failed, of {}", results.rows - results.failed.size(),
                             results.failed.size(), sweep.points)}};
  page.command = sweep.command;
  page.note = note_of(sweep, results);
  page.sentences = ranges(results.points, sweep.axes.size());
  page.failed = results.failed;
  if (results.points.rows.empty()) return page;
  page.tables.push_back(results.points);
  page.charts.push_back(bars_chart(sweep, results));
  page.charts.push_back(heat_chart(sweep, results));
  page.charts.push_back(lines_chart(sweep, results));
  const Pictured phases = phases_picture(results.points);
  if (!phases.table.rows.empty()) {
    page.tables.push_back(phases.table);
    page.charts.push_back(sweep_phases(sweep, phases.chart));
  }
  return page;
}

}  // namespace weft
