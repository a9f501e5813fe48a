#include "sim/tune/objective.h"

#include <algorithm>
#include <charconv>

#include "sim/report/field_names.h"
#include "sim/scenario/mode_rows.h"
#include "sim/scenario/modes.h"
#include "sim/sweep/summary_values.h"

namespace weft {
namespace {

bool is_isolated(const std::string& mode) {
  const auto* const row = std::find_if(kModeRows.begin(), kModeRows.end(),
                                       [&](const ModeRow& one) { return one.name == mode; });
  return row != kModeRows.end() && is_isolated(row->mode);
}

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Those to choose among: without c3's halves, unless there is nothing else.
std::vector<SummaryValue> candidates(const Objective& objective, const std::string& summary) {
  std::vector<SummaryValue> whole;
  std::vector<SummaryValue> isolated;
  for (SummaryValue& value : summary_values(summary)) {
    if (column_of(value) == objective.column) return {std::move(value)};
    if (value.mode.empty() || value.field != objective.column) continue;
    (is_isolated(value.mode) ? isolated : whole).push_back(std::move(value));
  }
  return whole.empty() ? isolated : whole;
}

}  // namespace

bool Objective::is_time() const { return !larger_is_better && column.ends_with(kTimeField); }

std::optional<Achieved> achieved(const Objective& objective, const std::string& summary) {
  std::optional<Achieved> best;
  for (const SummaryValue& value : candidates(objective, summary)) {
    const std::optional<double> number = number_of(value.text);
    if (!number) continue;
    if (best && cost_of(objective, *number) >= cost_of(objective, best->value)) continue;
    best = {.value = *number, .mode = value.mode, .unit = value.unit};
  }
  return best;
}

std::optional<std::vector<Achieved>> all_achieved(const Objectives& objectives,
                                                  const std::string& summary) {
  std::vector<Achieved> all;
  for (const Objective& objective : objectives) {
    const std::string mode = all.empty() ? "" : all.front().mode;
    std::optional<Achieved> here;
    if (!mode.empty()) {
      here = achieved({.column = sweep_column(mode, objective.column),
                       .larger_is_better = objective.larger_is_better},
                      summary);
    }
    if (!here) here = achieved(objective, summary);
    if (!here) return std::nullopt;
    all.push_back(*std::move(here));
  }
  return all;
}

double cost_of(const Objective& objective, double value) {
  constexpr double kLeast = 1e-9;  // below what any field has but 0
  value = std::max(value, kLeast);
  return objective.larger_is_better ? 1 / value : value;
}

std::vector<double> costs_of(const Objectives& objectives, const std::vector<Achieved>& achieved) {
  std::vector<double> costs;
  costs.reserve(achieved.size());
  for (std::size_t i = 0; i < achieved.size(); ++i) {
    costs.push_back(cost_of(objectives[i], achieved[i].value));
  }
  return costs;
}

std::vector<std::string> with_ranges(std::vector<std::string> sets, const Objectives& objectives) {
  const bool wanted = std::any_of(objectives.begin(), objectives.end(), [](const Objective& one) {
    return one.column.ends_with("time_high_us") || one.column.ends_with("time_low_us");
  });
  const bool is_said = std::any_of(sets.begin(), sets.end(), [](const std::string& set) {
    return set.starts_with("run.range=");
  });
  if (wanted && !is_said) sets.emplace_back("run.range=true");
  return sets;
}

std::vector<std::string> columns_in(const std::string& summary) {
  std::vector<std::string> columns;
  for (const SummaryValue& value : summary_values(summary)) {
    if (!number_of(value.text)) continue;
    for (const std::string& name : {value.field, column_of(value)}) {
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
    }
  }
  return columns;
}

}  // namespace weft
