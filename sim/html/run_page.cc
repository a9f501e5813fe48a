#include "sim/html/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sim/html/json_check.h"
#include "sim/html/run_tables.h"
#include "sim/report/field_names.h"
#include "sim/report/fields.h"
#include "sim/report/mode_fields.h"
#include "sim/report/result_files.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// What the reader may choose to see of the modes, in the order of the catalogue.
std::vector<ModeField> shown_fields(const JsonValue& modes) {
  const auto is_shown = [&](const ModeField& field) {
    if (!field.shown.in_run_page || !field.shown.if_any) return field.shown.in_run_page;
    return std::any_of(modes.begin(), modes.end(),
                       [&](const JsonValue& mode) { return mode.contains(path_in_mode(field)); });
  };
  std::vector<ModeField> fields;
  for (const ModeField& field : mode_fields()) {
    if (is_shown(field)) fields.push_back(field);
  }
  return fields;
}

// Of a mode; "wait_us.post" is in a group.
double number_at(const JsonValue& mode, const std::string& path, const std::string& where,
                 JsonCheck& check) {
  const auto dot = path.find('.');
  if (dot == std::string::npos) return check.number(mode, path.c_str(), where);
  const std::string group = path.substr(0, dot);
  const auto found = mode.find(group);
  return number_at(found == mode.end() ? JsonValue::object() : *found, path.substr(dot + 1),
                   where + "." + group, check);
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

// Three blanks part what is said of a cluster.
std::string in_one_line(std::string text) {
  const std::string blanks = "   ";
  for (std::size_t at = text.find(blanks); at != std::string::npos; at = text.find(blanks, at)) {
    text.replace(at, blanks.size(), "; ");
  }
  return text;
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

// Path and column of everything a table is made of; each file is read whatever the others hold.
class RunReader {
 public:
  RunReader(const fs::path& folder, Diagnostics& problems)
      : folder_(folder), files_(folder / kFilesOfResult), problems_(problems) {
    if (files_.problem().empty()) return;
    add_problem(problems_, folder_ / kFilesOfResult, 0, "", files_.problem());
  }

  [[nodiscard]] bool has(const std::string& name) const {
    std::error_code ignored;
    return files_.known() ? files_.lists(name) : fs::exists(folder_ / name, ignored);
  }
  // What is drawn from some of the files is told of all of them: none may be another's.
  void check_others() {
    for (const std::string& name : result_names()) {
      if (files_.lists(name) && !read_.contains(name)) {
        read_text(folder_ / name, files_, problems_);
      }
    }
  }
  std::optional<JsonValue> json(ResultFile file) {
    const fs::path path = folder_ / file_name(file);
    read_.insert(file_name(file));
    const auto text = read_text(path, files_, problems_);
    if (!text) return std::nullopt;
    return parse_json(path, *text, problems_);
  }
  Rows rows(const std::string& name, const std::vector<Needed>& needed) {
    const fs::path path = folder_ / name;
    read_.insert(name);
    const auto text = read_text(path, files_, problems_);
    if (!text) return {};
    return cells(parse_csv(path, *text, problems_), needed, problems_).value_or(Rows());
  }
  Rows rows(ResultFile file, const std::vector<Needed>& needed) {
    return rows(file_name(file), needed);
  }

 private:
  const fs::path& folder_;
  FileSet files_;
  std::set<std::string> read_;
  Diagnostics& problems_;
};

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
  const std::vector<ModeField> shown = shown_fields(modes);
  page.tables.push_back(modes_table(*summary, modes, shown, baseline, check));
  page.charts.push_back(times_chart(shown, baseline));
  add(page, phases_picture(page.tables.back()));
  if (is_model(modes)) {
    add(page, parts_picture(
                  reader.rows(ResultFile::parts,
                              {{"mode", text}, {"part", text}, {"exposed_us"}, {"computing_us"}})));
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
