#include "sim/html/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/html/json_check.h"
#include "sim/html/run_reader.h"
#include "sim/html/run_tables.h"
#include "sim/report/field_names.h"
#include "sim/report/fields.h"
#include "sim/report/mode_fields.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// Those that not every run has: what some mode has.
std::vector<ModeField> shown_fields_of(const JsonValue& modes) {
  std::vector<ModeField> fields = shown_fields();
  std::erase_if(fields, [&](const ModeField& field) {
    return field.shown.if_any &&
           std::none_of(modes.begin(), modes.end(),
                        [&](const JsonValue& mode) { return mode.contains(path_in_mode(field)); });
  });
  return fields;
}

// Null where not every mode needs it, and this one has none.
JsonValue value_at(const JsonValue& mode, const ModeField& field, const std::string& where,
                   JsonCheck& check) {
  const std::string path = path_in_mode(field);
  if (field.shown.if_any && !mode.contains(path)) return nullptr;
  return number_at(mode, path, where, check);
}

// What of bulk (or serial) the run's modes are compared with; empty where it was not run.
std::string baseline_of(const JsonValue& summary) {
  const auto speedups = summary.find("speedup");
  if (speedups == summary.end() || !speedups->is_object() || speedups->empty()) return "";
  return speedup_name(speedups->begin().key()).baseline;
}

PageTable modes_table(const JsonValue& summary, const JsonValue& modes,
                      const std::vector<ModeField>& shown, const std::string& baseline,
                      JsonCheck& check) {
  PageTable table{.name = "modes", .columns = {mode_column("mode")}, .rows = {}};
  for (const ModeField& field : shown) table.columns.push_back(mode_column(name_of(field)));
  if (!baseline.empty()) table.columns.push_back(mode_column("speedup_vs_" + baseline));
  for (const auto& [mode, values] : modes.items()) {
    std::vector<JsonValue> row{mode};
    for (const ModeField& field : shown) {
      row.push_back(value_at(values, field, "modes." + mode, check));
    }
    const std::string speedup = fmt::format("{}_vs_{}", mode, baseline);
    if (!baseline.empty()) row.push_back(summary["speedup"].value(speedup, JsonValue()));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Chart times_chart(const std::vector<ModeField>& shown, const std::string& baseline) {
  std::vector<std::string> values;
  values.reserve(shown.size() + 1);
  for (const ModeField& field : shown) values.push_back(name_of(field));
  const std::string speedup = baseline.empty() ? "" : "speedup_vs_" + baseline;
  if (!speedup.empty()) values.insert(values.begin() + 1, speedup);
  return {.id = "time",
          .title = "Time of each mode",
          .text = "From the start to the end of the slowest GPU." +
                  (baseline.empty()
                       ? ""
                       : fmt::format(" After it: how many times as fast as {}.", baseline)),
          .kind = "bars",
          .table = "modes",
          .roles = {always("category", "mode"), choice("value", "Show", values),
                    always("series", "mode")},
          .slice = {},
          .within = "",
          .label = speedup,
          .steps = ""};
}

bool is_model(const JsonValue& modes) {
  return std::any_of(modes.begin(), modes.end(),
                     [](const JsonValue& mode) { return mode.contains("parts"); });
}

std::vector<Needed> all_of(ResultFile file) {
  std::vector<Needed> columns;
  for (const Field& field : fields(file)) {
    columns.push_back({field.name, field.unit == Unit::text ? Holds::text : Holds::number});
  }
  return columns;
}

void add(Page& page, Pictured pictured) {
  if (!pictured.chart.table.empty()) page.tables.push_back(std::move(pictured.table));
  page.charts.push_back(std::move(pictured.chart));
}

}  // namespace

std::vector<std::string> sentences_of(const std::string& text) {
  std::vector<std::string> sentences;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find(". ", begin);
    sentences.push_back(text.substr(begin, end == std::string::npos ? end : end + 1 - begin));
    begin = end == std::string::npos ? text.size() : end + 2;
  }
  return sentences;
}

Page run_page(const fs::path& folder, Diagnostics& problems) {
  const fs::path summary_file = folder / file_name(ResultFile::summary);
  const fs::path manifest_file = folder / file_name(ResultFile::manifest);
  RunReader reader(folder, problems);
  const auto summary = reader.json(ResultFile::summary);
  const auto manifest = reader.json(ResultFile::manifest);
  using enum Holds;
  const Rows operators =
      reader.rows(ResultFile::operators, {{"mode", text}, {"part", text}, {"critical_us"}});
  const Rows links =
      reader.rows(ResultFile::links, {{"mode", text}, {"class", text}, {"utilisation"}, {"bytes"}});
  Page page;
  if (manifest) page.command = JsonCheck(manifest_file, problems).text(*manifest, "command");
  if (!summary) return page;

  JsonCheck check(summary_file, problems);
  page.title = check.text(*summary, "scenario");
  page.facts = {{"cluster", in_one_line(check.text(*summary, "cluster"))},
                {"weft", check.text(*summary, "version")}};
  page.sentences = sentences_of(check.text(*summary, "why"));
  const std::string baseline = baseline_of(*summary);
  const JsonValue modes = check.object(*summary, "modes");
  const std::vector<ModeField> shown = shown_fields_of(modes);
  page.tables.push_back(modes_table(*summary, modes, shown, baseline, check));
  page.charts.push_back(times_chart(shown, baseline));
  add(page, phases_picture(page.tables.back()));
  if (is_model(modes)) {
    add(page, parts_picture(
                  reader.rows(ResultFile::parts,
                              {{"mode", text}, {"part", text}, {"exposed_us"}, {"computing_us"}})));
    if (reader.has(file_name(ResultFile::stages))) {
      add(page, stages_picture(reader.rows(ResultFile::stages, all_of(ResultFile::stages))));
    }
    add(page,
        fusions_picture(reader.rows(
            ResultFile::fusions,
            {{"pair", text}, {"bulk_us"}, {"chunked_us"}, {"fused_us"}, {"obstacle", text}})));
  }
  add(page, links_picture(links));
  if (reader.has(kOverTime)) {
    add(page, over_time_picture(reader.rows(kOverTime, all_of(ResultFile::over_time))));
  } else {
    add(page, no_over_time());
  }
  std::vector<std::pair<std::string, double>> gaps;
  for (const auto& [mode, values] : modes.items()) {
    gaps.emplace_back(mode, check.number(values, "critical_gaps_us", "modes." + mode));
  }
  add(page, critical_picture(operators, gaps));
  reader.check_others();
  return page;
}

}  // namespace weft
