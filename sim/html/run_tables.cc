#include "sim/html/run_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/report/mode_fields.h"

namespace weft {
namespace {

std::string text_of(const JsonValue& value) { return value.get<std::string>(); }
double number(const JsonValue& value) { return value.get<double>(); }

PageColumn named(const char* name, const char* title, ShownAs as) {
  return {.name = name, .title = title, .as = as};
}
const PageColumn kMode = named("mode", "mode", ShownAs::text);

Chart chart(const char* id, const char* title, std::string text, const char* kind,
            std::vector<Role> roles) {
  return {.id = id,
          .title = title,
          .text = std::move(text),
          .kind = kind,
          .table = id,
          .roles = std::move(roles),
          .slice = {},
          .within = "",
          .label = "",
          .steps = ""};
}

std::size_t column_of(const PageTable& table, const char* name) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const PageColumn& column) { return column.name == name; });
  return static_cast<std::size_t>(found - table.columns.begin());
}

// A value per key, keys in the order in which they came.
class Sums {
 public:
  void add(const std::string& key, double value) {
    if (!sums_.contains(key)) keys_.push_back(key);
    sums_[key] += value;
  }
  [[nodiscard]] std::vector<std::pair<std::string, double>> largest_first() const {
    std::vector<std::pair<std::string, double>> all;
    all.reserve(keys_.size());
    for (const std::string& key : keys_) all.emplace_back(key, sums_.at(key));
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return all;
  }

 private:
  std::vector<std::string> keys_;
  std::map<std::string, double> sums_;
};

std::vector<std::string> shares_of(const std::vector<PageColumn>& columns) {
  std::vector<std::string> names;
  for (const PageColumn& column : columns) {
    if (column.as == ShownAs::share) names.push_back(column.name);
  }
  return names;
}

// Where the table has the time and the phases; `there` of all but the last, which is what is left.
struct PhaseColumns {
  std::size_t time;
  std::vector<std::pair<std::string, std::size_t>> there;
  std::string rest;
  bool all_there;
};

PhaseColumns phase_columns(const PageTable& modes) {
  PhaseColumns columns{
      .time = column_of(modes, kTimeField), .there = {}, .rest = "", .all_there = true};
  for (const TimePhase& phase : phases()) {
    if (*phase.field == '\0') {
      columns.rest = title_of(phase);
    } else {
      columns.there.emplace_back(title_of(phase), column_of(modes, phase.field));
    }
  }
  std::size_t last = columns.time;
  for (const auto& [title, at] : columns.there) last = std::max(last, at);
  columns.all_there = last < modes.columns.size();
  return columns;
}

// Nothing of a row that lacks one of them.
std::vector<std::pair<std::string, double>> phases_of(const std::vector<JsonValue>& row,
                                                      const PhaseColumns& columns) {
  if (row[columns.time].is_null()) return {};
  std::vector<std::pair<std::string, double>> phases;
  for (const auto& [title, at] : columns.there) {
    if (row[at].is_null()) return {};
    phases.emplace_back(title, number(row[at]));
  }
  const double rest =
      std::accumulate(phases.rbegin(), phases.rend(), number(row[columns.time]),
                      [](double left, const auto& phase) { return left - phase.second; });
  phases.emplace_back(columns.rest, std::max(rest, 0.0));
  return phases;
}

}  // namespace

PageTable phases_table(const PageTable& modes) {
  const PhaseColumns columns = phase_columns(modes);
  if (!columns.all_there) return {};
  const auto end_of_axes = static_cast<std::ptrdiff_t>(column_of(modes, "mode")) + 1;
  PageTable table{.name = "phases",
                  .columns = {modes.columns.begin(), modes.columns.begin() + end_of_axes},
                  .rows = {}};
  table.columns.push_back(named("phase", "phase", ShownAs::text));
  table.columns.push_back(named("us", "time", ShownAs::time));
  for (const auto& row : modes.rows) {
    for (const auto& [phase, us] : phases_of(row, columns)) {
      std::vector<JsonValue> values(row.begin(), row.begin() + end_of_axes);
      values.emplace_back(phase);
      values.emplace_back(us);
      table.rows.push_back(std::move(values));
    }
  }
  return table;
}

Pictured phases_picture(const PageTable& modes) {
  return {
      phases_table(modes),
      chart("phases", "Where the time goes",
            "Mean over GPUs. Computing: a WG of a compute or fused kernel is at work. Exposed "
            "communication: a kernel is active, but no WG computes. No kernel active: launches, "
            "and waiting for slower GPUs.",
            "stacked",
            {always("category", "mode"), always("series", "phase"), always("value", "us")})};
}

Pictured parts_picture(const Rows& rows) {
  return {{.name = "parts",
           .columns = {kMode, named("part", "part", ShownAs::text),
                       file_column(ResultFile::parts, "exposed_us"),
                       file_column(ResultFile::parts, "computing_us")},
           .rows = rows},
          chart("parts", "Parts of the model",
                "Exposed: a GPU computes nothing and waits for the part. Means over GPUs; all "
                "together add up to the run's time.",
                "bars",
                {always("category", "part"), always("series", "mode"),
                 choice("value", "Show", {"exposed_us", "computing_us"})})};
}

// Bars are as long as the run: what a stage neither computes nor exposes is idle.
Pictured stages_picture(const Rows& rows) {
  PageTable table{
      .name = "stages",
      .columns = {kMode, named("stage", "stage", ShownAs::text),
                  named("phase", "phase", ShownAs::text), named("us", "time", ShownAs::time)},
      .rows = {}};
  const std::vector<Field> columns = fields(ResultFile::stages);
  for (const auto& row : rows) {
    const std::string stage = fmt::format("stage {}", row[1].get<std::int64_t>());
    for (std::size_t i = 2; i < row.size(); ++i) {
      table.rows.push_back({row[0], stage, columns[i].title, row[i]});
    }
  }
  Chart bars = chart(
      "stages", "Stages of the pipeline",
      "Means over the GPUs of a stage. Idle: no kernel on a GPU, which is the "
      "pipeline's bubble, and launches.",
      "stacked", {always("category", "stage"), always("series", "phase"), always("value", "us")});
  bars.slice = {"mode"};
  return {std::move(table), std::move(bars)};
}

Pictured fusions_picture(const Rows& rows) {
  PageTable table{
      .name = "fusions",
      .columns = {named("pair", "pair", ShownAs::text), named("grain", "grain", ShownAs::text),
                  named("us", "time", ShownAs::time)},
      .rows = {}};
  std::string obstacles;
  for (const auto& row : rows) {
    const std::string obstacle = text_of(row[4]);
    if (!obstacle.empty()) {
      obstacles += fmt::format(" {}: {}.", text_of(row[0]), obstacle);
      continue;
    }
    table.rows.push_back({row[0], "bulk", row[1]});
    table.rows.push_back({row[0], "kernel", row[2]});
    table.rows.push_back({row[0], "fused", row[3]});
  }
  std::string text = "One operator with its collective, run alone, at each grain.";
  if (!obstacles.empty()) text += " Cannot be fused:" + obstacles;
  Chart bars =
      chart("fusions", "What can be fused", text, "bars",
            {always("category", "pair"), always("series", "grain"), always("value", "us")});
  if (table.rows.empty()) {
    bars.table.clear();
    bars.text =
        "No pair of operator and collective can be fused, or none was tried (workload.fuse: "
        "none)." +
        obstacles;
  }
  return {std::move(table), std::move(bars)};
}

Pictured links_picture(const Rows& rows) {
  PageTable table{.name = "links",
                  .columns = {kMode, file_column(ResultFile::link_classes, "class"),
                              file_column(ResultFile::link_classes, "links"),
                              file_column(ResultFile::link_classes, "utilisation"),
                              file_column(ResultFile::link_classes, "utilisation_max"),
                              file_column(ResultFile::link_classes, "bytes")},
                  .rows = {}};
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const auto& row : rows) {
    const auto [place, is_new] =
        places.try_emplace({text_of(row[0]), text_of(row[1])}, table.rows.size());
    if (is_new) table.rows.push_back({row[0], row[1], 0.0, 0.0, 0.0, 0.0});
    std::vector<JsonValue>& sum = table.rows[place->second];
    sum[2] = number(sum[2]) + 1;
    sum[3] = number(sum[3]) + number(row[2]);
    sum[4] = std::max(number(sum[4]), number(row[2]));
    sum[5] = number(sum[5]) + number(row[3]);
  }
  for (auto& sum : table.rows) sum[3] = number(sum[3]) / number(sum[2]);
  Chart bars = chart("links", "Links",
                     "Share of the time in which links are in use, by class: fabric and dimension "
                     "or direction.",
                     "bars",
                     {always("category", "class"), always("series", "mode"),
                      choice("value", "Show", {"utilisation_max", "utilisation", "bytes"})});
  if (table.rows.empty()) {
    bars.table.clear();
    bars.text = "This cluster has no links.";
  }
  return {std::move(table), std::move(bars)};
}

Pictured over_time_picture(Rows rows) {
  std::vector<PageColumn> columns;
  for (const Field& field : fields(ResultFile::over_time)) {
    columns.push_back(file_column(ResultFile::over_time, field.name));
  }
  Chart lines = chart("over_time", "Over time",
                      "Means over GPUs or links in each interval of the run.", "lines",
                      {always("x", "from_us"), always("series", "mode"),
                       choice("value", "Show", shares_of(columns))});
  lines.steps = "to_us";
  return {{.name = "over_time", .columns = std::move(columns), .rows = std::move(rows)},
          std::move(lines)};
}

Pictured no_over_time() {
  Chart none = chart("over_time", "Over time",
                     "There is no over_time.csv in this folder, so how busy CUs, HBM and links "
                     "were over time is not shown.",
                     "lines", {});
  none.table.clear();
  return {{}, std::move(none)};
}

Pictured critical_picture(const Rows& rows,
                          const std::vector<std::pair<std::string, double>>& gaps) {
  constexpr std::size_t kMost = 14;
  PageTable table{.name = "critical",
                  .columns = {kMode, named("part", "part", ShownAs::text),
                              file_column(ResultFile::operators, "critical_us")},
                  .rows = {}};
  for (const auto& [mode, gap] : gaps) {
    Sums sums;
    for (const auto& row : rows) {
      if (text_of(row[0]) == mode) sums.add(text_of(row[1]), number(row[2]));
    }
    sums.add("(launches in between)", gap);
    auto parts = sums.largest_first();
    std::erase_if(parts, [](const auto& part) { return part.second <= 0; });
    double others = 0;
    const std::size_t cut = parts.size() > kMost ? kMost - 1 : parts.size();
    for (std::size_t i = 0; i < cut; ++i) {
      table.rows.push_back({mode, parts[i].first, parts[i].second});
    }
    for (std::size_t i = cut; i < parts.size(); ++i) others += parts[i].second;
    if (cut < parts.size()) {
      table.rows.push_back({mode, fmt::format("({} others)", parts.size() - cut), others});
    }
  }
  Chart bars =
      chart("critical", "Critical path",
            "What the end of the run waits for, largest first. Operators and launches "
            "together add up to its time.",
            "bars",
            {always("category", "part"), always("series", "part"), always("value", "critical_us")});
  bars.slice = {"mode"};
  return {std::move(table), std::move(bars)};
}

}  // namespace weft
