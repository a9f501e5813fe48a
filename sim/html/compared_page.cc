#include "sim/html/compared_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/html/run_reader.h"
#include "sim/report/field_names.h"
#include "sim/report/field_value.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// A value of a mode, by the name that charts give its field.
using FieldOfMode = std::pair<std::string, std::string>;

struct ComparedRun {
  std::string name;
  std::string told;                 // what it is
  std::vector<FieldOfMode> fields;  // in the order of the file
  std::map<FieldOfMode, double> values;

  void set(const std::string& mode, const std::string& field, double value) {
    fields.emplace_back(mode, field);
    values[fields.back()] = value;
  }
  [[nodiscard]] const double* value(const FieldOfMode& of) const {
    const auto found = values.find(of);
    return found == values.end() ? nullptr : &found->second;
  }
};

void read_modes(const JsonValue& summary, ComparedRun& run, JsonCheck& check) {
  const std::vector<ModeField> shown = shown_fields();
  const JsonValue speedups = summary.value("speedup", JsonValue::object());
  const JsonValue modes = check.object(summary, "modes");
  for (const auto& [mode, values] : modes.items()) {
    for (const ModeField& field : shown) {
      if (field.shown.if_any && !values.contains(path_in_mode(field))) continue;
      run.set(mode, name_of(field), number_at(values, path_in_mode(field), "modes." + mode, check));
    }
    for (const auto& [member, value] : speedups.items()) {
      const SpeedupName name = speedup_name(member);
      if (name.mode == mode && value.is_number()) run.set(mode, name.field, value.get<double>());
    }
  }
}

ComparedRun read_run(const fs::path& folder, const std::string& name, Diagnostics& problems) {
  RunReader reader(folder, problems);
  const auto summary = reader.json(ResultFile::summary);
  const auto manifest = reader.json(ResultFile::manifest);
  ComparedRun run{.name = name, .told = "", .fields = {}, .values = {}};
  if (summary) {
    JsonCheck check(folder / file_name(ResultFile::summary), problems);
    run.told =
        fmt::format("{}; {}; weft {}", check.text(*summary, "scenario"),
                    in_one_line(check.text(*summary, "cluster")), check.text(*summary, "version"));
    read_modes(*summary, run, check);
  }
  if (manifest) {
    JsonCheck check(folder / file_name(ResultFile::manifest), problems);
    run.told += fmt::format("; {}", check.text(*manifest, "command"));
  }
  reader.check_others();
  return run;
}

// What any of the runs has, in the order in which it comes.
std::vector<std::string> names_in_all(const std::vector<ComparedRun>& runs,
                                      std::string FieldOfMode::*which) {
  std::vector<std::string> names;
  for (const ComparedRun& run : runs) {
    for (const FieldOfMode& of : run.fields) {
      const std::string& name = of.*which;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}
std::vector<std::string> modes_of_all(const std::vector<ComparedRun>& runs) {
  return names_in_all(runs, &FieldOfMode::first);
}
std::vector<std::string> fields_of_all(const std::vector<ComparedRun>& runs) {
  return names_in_all(runs, &FieldOfMode::second);
}

bool any_has(const std::vector<ComparedRun>& runs, const FieldOfMode& of) {
  return std::any_of(runs.begin(), runs.end(),
                     [&of](const ComparedRun& run) { return run.value(of) != nullptr; });
}

// "+12.3 %": by how much a value is above that of the first run.
std::string change_text(const double* first, const double* value) {
  if (first == nullptr || value == nullptr) return "-";
  if (*first == *value) return "0 %";
  if (*first == 0) return "-";
  return fmt::format("{:+.1f} %", 100 * (*value / *first - 1));
}

Unit unit_of(const std::string& field) {
  for (const ModeField& one : mode_fields()) {
    if (name_of(one) == field) return one.unit;
  }
  return Unit::count;
}

std::string shown_value(const std::string& field, const double* value) {
  return value == nullptr ? "-" : table_text(value_of(*value), unit_of(field));
}

std::vector<std::string> measures_row(const std::vector<ComparedRun>& runs, const FieldOfMode& of) {
  const double* first = runs[0].value(of);
  std::vector<std::string> row{of.first, mode_column(of.second).title,
                               shown_value(of.second, first)};
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const double* value = runs[i].value(of);
    row.push_back(shown_value(of.second, value));
    row.push_back(change_text(first, value));
  }
  return row;
}

TextTable measures_table(const std::vector<ComparedRun>& runs) {
  TextTable table{.id = "measures",
                  .title = "Side by side",
                  .text = fmt::format("Differences in per cent of the value of {}.", runs[0].name),
                  .columns = {"mode", "measure", runs[0].name},
                  .rows = {},
                  .words = 2};
  for (std::size_t i = 1; i < runs.size(); ++i) {
    table.columns.push_back(runs[i].name);
    table.columns.emplace_back("difference");
  }
  for (const std::string& mode : modes_of_all(runs)) {
    for (const std::string& field : fields_of_all(runs)) {
      if (any_has(runs, {mode, field})) table.rows.push_back(measures_row(runs, {mode, field}));
    }
  }
  return table;
}

TextTable keys_table(const std::vector<ComparedRun>& runs, const ComparedKeys& keys) {
  TextTable table{.id = "keys",
                  .title = "Scenario keys that differ",
                  .text = "As resolved: with what bases and defaults say.",
                  .columns = {"key"},
                  .rows = keys.rows,
                  .words = runs.size() + 1};
  for (const ComparedRun& run : runs) table.columns.push_back(run.name);
  if (keys.rows.empty()) table.text = keys.absent;
  return table;
}

std::vector<JsonValue> row_of(const ComparedRun& run, const std::string& mode,
                              const std::vector<std::string>& fields, const ComparedRun& first) {
  std::vector<JsonValue> row{run.name, mode};
  for (const std::string& field : fields) {
    const double* value = run.value({mode, field});
    row.emplace_back(value == nullptr ? JsonValue() : JsonValue(*value));
  }
  const FieldOfMode time{mode, kTimeField};
  const bool compared = &run != &first && first.value(time) != nullptr;
  row.emplace_back(compared ? JsonValue(change_text(first.value(time), run.value(time)))
                            : JsonValue());
  return row;
}

// A row for each run and mode.
PageTable runs_table(const std::vector<ComparedRun>& runs) {
  const std::vector<std::string> fields = fields_of_all(runs);
  PageTable table{.name = "runs",
                  .columns = {{.name = "run", .title = "run"}, mode_column("mode")},
                  .rows = {}};
  for (const std::string& field : fields) table.columns.push_back(mode_column(field));
  table.columns.push_back({.name = "difference", .title = "difference"});
  for (const std::string& mode : modes_of_all(runs)) {
    for (const ComparedRun& run : runs) {
      if (run.value({mode, kTimeField}) == nullptr) continue;
      table.rows.push_back(row_of(run, mode, fields, runs[0]));
    }
  }
  return table;
}

Chart times_of_runs(const PageTable& runs, const std::string& first) {
  std::vector<std::string> values;
  for (std::size_t i = 2; i + 1 < runs.columns.size(); ++i) values.push_back(runs.columns[i].name);
  return {.id = "time",
          .title = "Time of each mode",
          .text = fmt::format(
              "From the start to the end of the slowest GPU; after it, how much longer than {}.",
              first),
          .kind = "bars",
          .table = runs.name,
          .roles = {always("category", "mode"), choice("value", "Show", values),
                    always("series", "run")},
          .slice = {},
          .within = "",
          .label = "difference",
          .steps = ""};
}

std::vector<std::string> in_sentences(const std::vector<ComparedRun>& runs) {
  std::vector<std::string> sentences;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    std::vector<std::string> changes;
    for (const std::string& mode : modes_of_all(runs)) {
      const FieldOfMode time{mode, kTimeField};
      const std::string change = change_text(runs[0].value(time), runs[i].value(time));
      if (change != "-") changes.push_back(fmt::format("{} {}", mode, change));
    }
    sentences.push_back(changes.empty() ? fmt::format("{} and {} have no mode in common.",
                                                      runs[i].name, runs[0].name)
                                        : fmt::format("Time of {} against {}: {}.", runs[i].name,
                                                      runs[0].name, fmt::join(changes, ", ")));
  }
  return sentences;
}

}  // namespace

std::vector<std::string> names_of_runs(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  std::vector<std::string> paths;
  for (const fs::path& folder : folders) {
    const fs::path plain = folder.has_filename() ? folder : folder.parent_path();
    names.push_back(plain.filename().generic_string());
    paths.push_back(plain.generic_string());
  }
  const bool alike = std::set<std::string>(names.begin(), names.end()).size() < names.size();
  return alike ? paths : names;
}

Page compared_page(const std::vector<fs::path>& folders, const ComparedKeys& keys,
                   Diagnostics& problems) {
  const std::vector<std::string> names = names_of_runs(folders);
  std::vector<ComparedRun> runs;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    runs.push_back(read_run(folders[i], names[i], problems));
  }
  Page page;
  if (problems.has_errors()) return page;
  page.title = fmt::format("{} compared", fmt::join(names, ", "));
  for (const ComparedRun& run : runs) page.facts.emplace_back(run.name, run.told);
  page.sentences = in_sentences(runs);
  page.texts = {measures_table(runs), keys_table(runs, keys)};
  page.tables.push_back(runs_table(runs));
  page.charts.push_back(times_of_runs(page.tables.back(), names[0]));
  Pictured phases = phases_picture(page.tables.back());
  phases.chart.within = "run";
  page.tables.push_back(std::move(phases.table));
  page.charts.push_back(std::move(phases.chart));
  return page;
}

}  // namespace weft
