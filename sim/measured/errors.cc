#include "sim/measured/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sim/core/assert.h"

namespace weft {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Values by the kind of their line, in the order of the kinds' first lines; "all" comes last.
class ByKind {
 public:
  void add(const std::string& kind, double error) {
    const auto [found, fresh] = places_.try_emplace(kind, groups_.size());
    if (fresh) groups_.push_back({kind, {}});
    groups_[found->second].second.push_back(error);
    all_.push_back(error);
  }
  [[nodiscard]] std::vector<ErrorSummary> summaries() const {
    std::vector<ErrorSummary> rows;
    rows.reserve(groups_.size() + 1);
    for (const auto& [kind, errors] : groups_) rows.push_back(summarise(kind, errors));
    if (!all_.empty()) rows.push_back(summarise("all", all_));
    return rows;
  }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<std::pair<std::string, std::vector<double>>> groups_;
  std::vector<double> all_;
};

std::vector<RatioOutcome> ratios_of(const std::vector<Outcome>& outcomes) {
  std::map<std::pair<std::string, std::string>, const Outcome*> bulk;
  for (const Outcome& outcome : outcomes) {
    bulk[{outcome.line.kind, compared_text(outcome.line)}] = &outcome;
  }
  std::vector<RatioOutcome> ratios;
  for (const Outcome& fused : outcomes) {
    const auto found = bulk.find({bulk_kind_of(fused.line.kind), compared_text(fused.line)});
    if (found == bulk.end()) continue;
    const Outcome& whole = *found->second;
    ratios.push_back({.line = fused.line,
                      .measured = fused.line.us / whole.line.us,
                      .predicted = fused.predicted_us / whole.predicted_us});
  }
  return ratios;
}

void add_summary_table(std::string& text, const char* title, const std::vector<ErrorSummary>& rows,
                       bool in_percent) {
  if (rows.empty()) return;
  const auto share = [&](double value, bool with_sign) {
    if (in_percent)
      return with_sign ? fmt::format("{:+.1f} %", value * 100)
                       : fmt::format("{:.1f} %", value * 100);
    return with_sign ? fmt::format("{:+.3f}", value) : fmt::format("{:.3f}", value);
  };
  text += fmt::format("\n| {} | cases | median | p90 | worst | bias |\n|---|---|---|---|---|---|\n",
                      title);
  for (const ErrorSummary& row : rows) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", row.of, row.cases,
                        share(row.median, false), share(row.p90, false), share(row.worst, true),
                        share(row.bias, true));
  }
}

OrderedJson summaries_json(const std::vector<ErrorSummary>& rows) {
  OrderedJson all = OrderedJson::object();
  for (const ErrorSummary& row : rows) {
    all[row.of] = {{"cases", row.cases},
                   {"median", row.median},
                   {"p90", row.p90},
                   {"worst", row.worst},
                   {"bias", row.bias}};
  }
  return all;
}

}  // namespace

ErrorSummary summarise(std::string of, std::vector<double> errors) {
  SIM_ASSERT(!errors.empty());
  std::sort(errors.begin(), errors.end(),
            [](double a, double b) { return std::abs(a) < std::abs(b); });
  const std::size_t n = errors.size();
  const double middle = (std::abs(errors[(n - 1) / 2]) + std::abs(errors[n / 2])) / 2;
  return {.of = std::move(of),
          .cases = n,
          .median = middle,
          .p90 = std::abs(errors[(9 * n + 9) / 10 - 1]),  // the least that 90 % do not exceed
          .worst = errors.back(),
          .bias = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(n)};
}

ErrorReport report_errors(std::vector<Outcome> outcomes) {
  ErrorReport report;
  ByKind times;
  for (const Outcome& outcome : outcomes) times.add(outcome.line.kind, outcome.error());
  report.by_kind = times.summaries();
  report.ratios = ratios_of(outcomes);
  ByKind differences;
  for (const RatioOutcome& ratio : report.ratios) {
    differences.add(ratio.line.kind, ratio.predicted - ratio.measured);
  }
  report.of_ratios = differences.summaries();
  report.outcomes = std::move(outcomes);
  return report;
}

std::string error_table(const ErrorReport& report) {
  std::string text =
      "| kind | case | measured us | predicted us | error |\n|---|---|---|---|---|\n";
  for (const Outcome& outcome : report.outcomes) {
    text += fmt::format("| {} | {} | {:.1f} | {:.1f} | {:+.1f} % |\n", outcome.line.kind,
                        outcome.line.text(), outcome.line.us, outcome.predicted_us,
                        outcome.error() * 100);
  }
  if (!report.ratios.empty()) {
    text +=
        "\n| fused / bulk | case | measured | predicted | difference |\n|---|---|---|---|---|\n";
  }
  for (const RatioOutcome& ratio : report.ratios) {
    text +=
        fmt::format("| {} | {} | {:.3f} | {:.3f} | {:+.3f} |\n", ratio.line.kind, ratio.line.text(),
                    ratio.measured, ratio.predicted, ratio.predicted - ratio.measured);
  }
  add_summary_table(text, "error of the time", report.by_kind, true);
  add_summary_table(text, "difference of fused / bulk", report.of_ratios, false);
  return text;
}

std::string error_csv(const ErrorReport& report) {
  std::string text = "kind,case,measured_us,predicted_us,error\n";
  for (const Outcome& outcome : report.outcomes) {
    text += fmt::format("{},\"{}\",{},{},{}\n", outcome.line.kind, outcome.line.text(),
                        outcome.line.us, outcome.predicted_us, outcome.error());
  }
  return text;
}

std::string error_json(const ErrorReport& report, const std::vector<std::string>& sets) {
  OrderedJson all;
  if (!sets.empty()) all["set"] = sets;
  all["error_by_kind"] = summaries_json(report.by_kind);
  all["fused_over_bulk_difference_by_kind"] = summaries_json(report.of_ratios);
  OrderedJson cases = OrderedJson::array();
  for (const Outcome& outcome : report.outcomes) {
    OrderedJson one = {{"kind", outcome.line.kind}};
    for (const auto& [name, value] : outcome.line.numbers) one[name] = value;
    for (const auto& [name, value] : outcome.line.words) one[name] = value;
    one["measured_us"] = outcome.line.us;
    one["predicted_us"] = outcome.predicted_us;
    one["error"] = outcome.error();
    cases.push_back(std::move(one));
  }
  all["cases"] = std::move(cases);
  OrderedJson ratios = OrderedJson::array();
  for (const RatioOutcome& ratio : report.ratios) {
    ratios.push_back({{"kind", ratio.line.kind},
                      {"case", ratio.line.text()},
                      {"measured", ratio.measured},
                      {"predicted", ratio.predicted}});
  }
  all["fused_over_bulk"] = std::move(ratios);
  return all.dump(2) + "\n";
}

}  // namespace weft
