#include "sim/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "sim/report/measures.h"
#include "sim/report/numbers.h"
#include "sim/report/why.h"
#include "sim/workloads/lower.h"

namespace weft {
namespace {

constexpr std::size_t kColumns = 7;
using Row = std::array<std::string, kColumns>;

Row row_of(const RunReport& report, const RunResult& result) {
  const Measures m = measure(report, result);
  const ModeRun* bulk = find_run(report, Mode::bulk);
  const bool comparable = bulk != nullptr && result.time.count() > 0;
  return {name_of(result.mode),
          time_text(m.time),
          comparable ? ratio_text(in_us(bulk->result.time) / in_us(result.time)) : "-",
          time_text(m.exposed),
          percent_text(m.cu_busy),
          percent_text(m.hbm_busy),
          m.link.link_class.empty() ? "-" : percent_text(m.link.busy) + " " + m.link.link_class};
}

std::string aligned(const std::vector<Row>& rows) {
  std::array<std::size_t, kColumns> width{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kColumns; ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < kColumns; ++i) line += fmt::format("{:<{}}   ", row[i], width[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
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
  return fmt::format("balanced ({} WGs, {} messages, {}{})", count_text(wgs), count_text(messages),
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
  return fmt::format("{} events in {:.3g} s ({} events/s, {})", large_text(events), wall_s,
                     large_text(rate), bytes_text(report.peak_rss_bytes));
}

}  // namespace

std::string table(const RunReport& report) {
  std::vector<Row> rows{
      {"mode", "time", "vs bulk", "exposed comm", "CU busy", "HBM busy", "links busy (max)"}};
  for (const ModeRun& run : report.runs) rows.push_back(row_of(report, run.result));
  return fmt::format("{}   {}\n", title_of(report.scenario.workload), one_line(report.cluster)) +
         aligned(rows) + wrapped("why: ", why(report)) +
         fmt::format("ledger: {}   {}\n", ledger_text(report), engine_text(report));
}

}  // namespace weft
