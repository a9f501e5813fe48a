#include "sim/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/collectives/collective.h"
#include "sim/core/plural.h"
#include "sim/report/aligned.h"
#include "sim/report/measures.h"
#include "sim/report/mode_fields.h"
#include "sim/report/model.h"
#include "sim/report/numbers.h"
#include "sim/report/stages.h"
#include "sim/report/step_gain.h"
#include "sim/report/why.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

// Whether this report's table has the field's column.
bool has_column(const ModeField& field, const RunReport& report) {
  const bool c3 = report.scenario.workload.kind == WorkloadKind::c3;
  if ((c3 ? field.shown.c3_heading : field.shown.heading) == nullptr) return false;
  return !field.shown.if_any ||
         std::any_of(report.runs.begin(), report.runs.end(), [&](const ModeRun& run) {
           return is_there(field.value(view_of(report, run)));
         });
}

TableRow headings(const RunReport& report) {
  const bool c3 = report.scenario.workload.kind == WorkloadKind::c3;
  TableRow row{"mode"};
  for (const ModeField& field : mode_fields()) {
    if (!has_column(field, report)) continue;
    row.emplace_back(c3 ? field.shown.c3_heading : field.shown.heading);
  }
  return row;
}

TableRow row_of(const ModeView& mode) {
  TableRow row{name_of(mode.run.result.mode)};
  for (const ModeField& field : mode_fields()) {
    if (!has_column(field, mode.report)) continue;
    row.push_back(field.shown.cell != nullptr ? field.shown.cell(mode)
                                              : table_text(field.value(mode), field.unit));
  }
  return row;
}

// Where the next word ends. A number and its unit are one word: "98 %", "12.346 ms".
std::size_t word_end(const std::string& text, std::size_t at) {
  const auto is_digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  std::size_t end = std::min(text.find(' ', at), text.size());
  if (end < text.size() && end > at && is_digit(end - 1)) {
    end = std::min(text.find(' ', end + 1), text.size());
  }
  return end;
}

// Broken into lines between words, the later ones indented as far as the label reaches.
std::string wrapped(const std::string& label, const std::string& text) {
  constexpr std::size_t kWidth = 100;
  std::string result = label;
  std::size_t column = label.size();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = word_end(text, at);
    if (column > label.size() && column + 1 + (end - at) > kWidth) {
      result += '\n';
      result.append(label.size(), ' ');
      column = label.size();
    } else if (column > label.size()) {
      result += ' ';
      ++column;
    }
    result.append(text, at, end - at);
    column += end - at;
    at = end + 1;
  }
  return result + "\n";
}

std::string model_tables(const RunReport& report) {
  return replay_text(report) + "\n" + parts_table(report) + stages_table(report) +
         path_text(report) + "\n" + fusions_table(report) + "\n";
}

std::string ledger_text(const RunReport& report) {
  const std::string wrong = imbalance(report);
  if (!wrong.empty()) return fmt::format("NOT BALANCED: {}", wrong);
  std::int64_t wgs = 0;
  std::int64_t messages = 0;
  std::int64_t size = 0;
  for (const ModeRun& run : report.runs) {
    wgs += run.result.ledger.wgs.done;
    messages += run.result.ledger.messages.done;
    size += run.result.ledger.message_bytes.done;
  }
  const std::size_t modes = report.runs.size();
  return fmt::format("balanced ({} {}, {} {}, {}{})", count_text(wgs), plural(wgs, "WG", "WGs"),
                     count_text(messages), plural(messages, "message", "messages"),
                     bytes_text(size), modes > 1 ? fmt::format(", {} modes together", modes) : "");
}

std::string engine_text(const RunReport& report) {
  double events = 0;
  double wall_s = 0;
  for (const ModeRun& run : report.runs) {
    events += static_cast<double>(run.result.events);
    wall_s += run.wall_s;
  }
  const double rate = wall_s > 0 ? events / wall_s : 0;
  const std::uint32_t simulated = report.simulated_gpus;
  return fmt::format("{} events in {:.3g} s ({} events/s, {}{})", large_text(events), wall_s,
                     large_text(rate), bytes_text(report.peak_rss_bytes),
                     simulated < report.cluster.gpus()
                         ? fmt::format("; {} of {} GPUs, which stand for all",
                                       count_text(simulated), count_text(report.cluster.gpus()))
                         : "");
}

const char* phase_of(const Workload& workload) {
  switch (workload.phase) {
    case Phase::training:
      return "a training step";
    case Phase::inference:
      return "inference";
    case Phase::prefill:
      return "prefill";
    case Phase::decode:
      return "decode";
  }
  SIM_ASSERT(false);
}

// "embedding + all-to-all"
std::string title_of(const Workload& workload) {
  const KindRow& row = row_of(workload.kind);
  if (row_of(workload.kind).model != nullptr) {
    return std::string(row.title) + ", " + phase_of(workload);
  }
  if (row.family != Family::collective) return row.title;
  std::string title = name_of(workload.collective.op);  // "all-to-all"
  std::replace(title.begin(), title.end(), '_', '-');
  return title;
}

}  // namespace

std::string table(const RunReport& report) {
  std::vector<TableRow> rows{headings(report)};
  for (const ModeRun& run : report.runs) rows.push_back(row_of(view_of(report, run)));
  return fmt::format("{}   {}\n", title_of(report.scenario.workload), one_line(report.cluster)) +
         aligned(rows) + (is_model(report.scenario.workload.kind) ? model_tables(report) : "") +
         wrapped("why: ", why(report)) +
         fmt::format("ledger: {}   {}\n", ledger_text(report), engine_text(report));
}

}  // namespace weft
