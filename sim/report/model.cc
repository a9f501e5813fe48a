#include "sim/report/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "sim/report/aligned.h"
#include "sim/report/columns.h"
#include "sim/report/field_names.h"
#include "sim/report/measures.h"
#include "sim/report/mode_fields.h"
#include "sim/report/numbers.h"
#include "sim/report/step_gain.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

Duration mean(Duration sum, std::size_t gpus) {
  return picoseconds(sum.count() / static_cast<std::int64_t>(gpus));
}

Duration sum_of(const PartTime& part) { return part.computing + part.exposed; }

std::string gain_text(const Candidate& candidate) {
  const double gain = 1 - in_us(candidate.fused) / in_us(candidate.bulk);
  return fmt::format("{:+.1f} %", -100 * gain);
}

std::string residency_text(const Candidate& pair) {
  std::string fused = count_text(pair.wgs_per_cu_fused);
  if (pair.wgs_per_cu_bulk == pair.wgs_per_cu_fused) return fused;
  return fmt::format("{}, not {}", fused, pair.wgs_per_cu_bulk);
}

std::string best_text(const Candidate& pair) {
  return pair.obstacle.empty() ? name_of(best_mode(pair)) : "";
}

// A pair and what it would save of the step.
struct PairRow {
  const Candidate& pair;
  std::optional<StepGain> gain;
  std::optional<double> bound;  // of one that cannot be fused
};

std::vector<PairRow> rows_of(const RunReport& report) {
  const std::optional<StepTime> step = step_of(report);
  std::vector<PairRow> rows;
  rows.reserve(report.candidates.size());
  for (const Candidate& pair : report.candidates) {
    rows.push_back(
        {.pair = pair, .gain = gain_of(pair, step), .bound = bound_of_refused(pair, step)});
  }
  return rows;
}

std::string step_text(const PairRow& row) {
  if (row.gain) return text_of(*row.gain);
  return row.bound ? fmt::format("at most {:+.1f} %", -100 * *row.bound) : "-";
}

// A column of the table for people: a time, or what a function says.
struct PairColumn {
  const char* heading;
  std::optional<Mode> time_in = std::nullopt;
  std::string (*text)(const PairRow& row) = nullptr;
  bool of_all = false;  // of pairs that cannot be fused too
  bool if_any = false;  // left out where no pair has such a time
};

constexpr auto kPairColumns = std::to_array<PairColumn>({
    {.heading = "could be fused",
     .text = [](const PairRow& row) { return row.pair.name; },
     .of_all = true},
    {.heading = "pattern",
     .text = [](const PairRow& row) { return std::string(name_of(row.pair.pattern)); },
     .of_all = true},
    {.heading = "count",
     .text = [](const PairRow& row) { return count_text(row.pair.times); },
     .of_all = true},
    {.heading = "bulk", .time_in = Mode::bulk},
    {.heading = "chunked", .time_in = Mode::kernel},
    {.heading = "pipelined", .time_in = Mode::pipelined, .if_any = true},
    {.heading = "fused", .time_in = Mode::fused},
    {.heading = "change", .text = [](const PairRow& row) { return gain_text(row.pair); }},
    {.heading = "role_split", .time_in = Mode::role_split, .if_any = true},
    {.heading = "copy_fed", .time_in = Mode::copy_fed, .if_any = true},
    {.heading = "best", .text = [](const PairRow& row) { return best_text(row.pair); }},
    {.heading = "of the step",
     .text = [](const PairRow& row) { return step_text(row); },
     .of_all = true},
    {.heading = "WGs per CU", .text = [](const PairRow& row) { return residency_text(row.pair); }},
    {.heading = "", .text = [](const PairRow& row) { return row.pair.obstacle; }, .of_all = true},
});

bool is_shown(const PairColumn& column, const std::vector<Candidate>& pairs) {
  return !column.if_any || std::any_of(pairs.begin(), pairs.end(), [&](const Candidate& pair) {
    return pair.time_in(*column.time_in).count() > 0;
  });
}

std::string text_in(const PairColumn& column, const PairRow& row) {
  if (!row.pair.obstacle.empty() && !column.of_all) return "-";
  if (column.text != nullptr) return column.text(row);
  const Duration time = row.pair.time_in(*column.time_in);
  return time.count() > 0 ? time_text(time) : "-";
}

constexpr const char* kIdlePart = "idle";

// A part has the fields of a mode that say <part>, by the last word of their path.
Field column_of_part(const ModeField& field) {
  const std::string path = field.path;
  return {path.substr(path.rfind('.') + 1), field.unit, field.title, field.meaning};
}

std::vector<std::string> part_values(const ModeView& mode) {
  std::vector<std::string> values{name_of(mode.run.result.mode), mode.part->name};
  for (const ModeField& field : mode_fields()) {
    if (is_of_part(field)) values.push_back(csv_text(field.value(mode)));
  }
  return values;
}

constexpr auto kFusionColumns = std::to_array<Column<PairRow>>({
    {"pair", Unit::text, "pair", "whole models: operator and collective, in their order",
     [](const PairRow& row) { return value_of(row.pair.name); }},
    {"pattern", Unit::text, "pattern", "as in workload.fuse",
     [](const PairRow& row) { return value_of(name_of(row.pair.pattern)); }},
    {"times", Unit::count, "count", "how often it occurs, on the GPU on which it occurs most",
     [](const PairRow& row) { return value_of(row.pair.times); }},
    {"bulk_us", Unit::us, "bulk",
     "time of one pair by itself, kernel after kernel; 0: it cannot be fused",
     [](const PairRow& row) { return value_of(row.pair.bulk); }},
    {"chunked_us", Unit::us, "chunked", "the same in mode kernel; 0: it has no chunks",
     [](const PairRow& row) { return value_of(row.pair.chunked); }},
    {"pipelined_us", Unit::us, "pipelined",
     "the same in mode pipelined; 0: not asked for, or copy engines cannot carry it",
     [](const PairRow& row) { return value_of(row.pair.pipelined); }},
    {"fused_us", Unit::us, "fused", "the same fused",
     [](const PairRow& row) { return value_of(row.pair.fused); }},
    {"role_split_us", Unit::us, "role_split",
     "the same in mode role_split; 0: not asked for, or it does not suit the pair",
     [](const PairRow& row) { return value_of(row.pair.role_split); }},
    {"copy_fed_us", Unit::us, "copy_fed",
     "the same in mode copy_fed; 0: not asked for, or copy engines have nothing to bring",
     [](const PairRow& row) { return value_of(row.pair.copy_fed); }},
    {"best", Unit::text, "best",
     "the mode in which the pair takes least; empty: it cannot be fused",
     [](const PairRow& row) { return value_of(best_text(row.pair)); }},
    {"saves", Unit::share, "of the step",
     "share of the step that all its occurrences save in their best mode, by themselves: of the "
     "recorded step, of other models of bulk's; empty: none",
     [](const PairRow& row) { return row.gain ? value_of(row.gain->saved) : FieldValue{}; }},
    {"saves_least", Unit::share, "at least",
     "the same, less what 90 % of measured pairs were off (docs/accuracy.md); negative: a loss",
     [](const PairRow& row) { return row.gain ? value_of(row.gain->least) : FieldValue{}; }},
    {"saves_most", Unit::share, "at most",
     "the same, and as much more; of a pair that cannot be fused, all that its collective adds",
     [](const PairRow& row) {
       if (row.gain) return value_of(row.gain->most);
       return row.bound ? value_of(*row.bound) : FieldValue{};
     }},
    {"wgs_per_cu_bulk", Unit::count, "WGs per CU", "resident WGs of the operator's kernel per CU",
     [](const PairRow& row) { return value_of(row.pair.wgs_per_cu_bulk); }},
    {"wgs_per_cu_fused", Unit::count, "WGs per CU, fused",
     "the same of the fused kernel, which needs more registers",
     [](const PairRow& row) { return value_of(row.pair.wgs_per_cu_fused); }},
    {"obstacle", Unit::text, "obstacle", "why it cannot be fused; empty if it can",
     [](const PairRow& row) { return value_of(row.pair.obstacle); }},
});

}  // namespace

bool is_idle(const PartTime& part) { return part.name == kIdlePart; }

std::vector<PartTime> part_times(const RunResult& result) {
  std::vector<PartTime> times;
  times.reserve(result.parts.size() + 1);
  for (const PartUse& part : result.parts) {
    times.push_back({.name = part.name,
                     .computing = mean(part.computing, result.gpus.size()),
                     .exposed = mean(part.exposed, result.gpus.size())});
  }
  std::stable_sort(times.begin(), times.end(),
                   [](const PartTime& a, const PartTime& b) { return sum_of(a) > sum_of(b); });
  times.push_back(
      {.name = kIdlePart, .computing = {}, .exposed = mean(result.idle, result.gpus.size())});
  return times;
}

std::string parts_table(const RunReport& report) {
  std::vector<TableRow> rows{{"part"}};
  for (const ModeRun& run : report.runs) {
    rows.front().push_back(name_of(run.result.mode));
    for (const PartTime& part : part_times(run.result)) {
      if (sum_of(part).count() == 0) continue;
      auto row = std::find_if(rows.begin() + 1, rows.end(),
                              [&part](const TableRow& other) { return other[0] == part.name; });
      if (row == rows.end()) row = rows.insert(row, {part.name});
      row->resize(rows.front().size() - 1, "-");
      std::string text = time_text(sum_of(part));
      if (part.computing.count() > 0 && part.exposed.count() > 0) {
        text += fmt::format(" ({} exposed)", time_text(part.exposed));
      }
      row->push_back(text);
    }
  }
  for (TableRow& row : rows) row.resize(rows.front().size(), "-");
  // What is idle closes the sum in every mode.
  const auto idle = std::find_if(rows.begin() + 1, rows.end(),
                                 [](const TableRow& row) { return row[0] == kIdlePart; });
  if (idle != rows.end()) std::rotate(idle, idle + 1, rows.end());
  return aligned(rows);
}

std::string path_text(const RunReport& report) {
  std::string text;
  for (const ModeRun& run : report.runs) {
    const RunResult& result = run.result;
    std::map<std::string, Duration> by_part;
    for (const OperatorUse& use : result.operators) by_part[use.part] += use.critical;
    by_part["launches"] += result.path_gaps;
    std::vector<std::pair<std::string, Duration>> parts(by_part.begin(), by_part.end());
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string line;
    for (const auto& [part, time] : parts) {
      const double share = in_us(time) / in_us(result.time);
      if (share < 0.005) continue;
      line += fmt::format("{}{} {}", line.empty() ? "" : ", ", part, percent_text(share));
    }
    text += fmt::format("critical path, {}: {}\n", name_of(result.mode), line);
  }
  return text;
}

std::string fusions_table(const RunReport& report) {
  if (report.candidates.empty()) {
    return report.tries_pairs ? "no pair of operator and collective can be fused\n"
                              : "no pair was tried (workload.fuse: none)\n";
  }
  std::vector<const PairColumn*> columns;
  for (const PairColumn& column : kPairColumns) {
    if (is_shown(column, report.candidates)) columns.push_back(&column);
  }
  std::vector<TableRow> rows(1);
  for (const PairColumn* column : columns) rows.front().emplace_back(column->heading);
  for (const PairRow& pair : rows_of(report)) {
    TableRow& row = rows.emplace_back();
    for (const PairColumn* column : columns) row.push_back(text_in(*column, pair));
  }
  return aligned(rows) + gains_text(report);
}

std::vector<Field> part_fields() {
  std::vector<Field> fields{
      {"mode", Unit::text, "mode", "grain of overlap; the file is written for whole models only"},
      {"part", Unit::text, "part",
       "part of the model; idle: no kernel on a GPU, until the end of the run"}};
  for (const ModeField& field : mode_fields()) {
    if (is_of_part(field)) fields.push_back(column_of_part(field));
  }
  return fields;
}

std::string parts_csv(const RunReport& report) {
  std::vector<std::string> header;
  for (const Field& field : part_fields()) header.push_back(field.name);
  std::string csv = csv_line(header);
  for (const ModeRun& run : report.runs) {
    ModeView mode = view_of(report, run);
    for (const PartTime& part : mode.parts) {
      mode.part = &part;
      csv += csv_line(part_values(mode));
    }
  }
  return csv;
}

std::vector<Field> fusion_fields() { return fields_of(kFusionColumns); }

std::string fusions_csv(const RunReport& report) {
  std::string csv = csv_header(kFusionColumns);
  for (const PairRow& row : rows_of(report)) csv += csv_line(kFusionColumns, row);
  return csv;
}

}  // namespace weft
