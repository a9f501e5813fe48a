#include "sim/tune/objective.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

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

// Whether it is this field, of every mode or of one.
bool is_field(const std::string& column, const char* field) {
  return column == field ||
         std::any_of(kModeRows.begin(), kModeRows.end(),
                     [&](const ModeRow& row) { return column == sweep_column(row.name, field); });
}

bool is_bounded_time(const Objective& objective) {
  return !objective.larger_is_better && is_field(objective.column, kTimeField);
}

// Fields that are a number of the scenario's times or over the time.
struct BoundedRate {
  const char* field;
  bool larger_in_less_time;
  std::optional<double> Rates::*rate;
};
constexpr std::array kBoundedRates = {
    BoundedRate{"cost", false, &Rates::cost},
    BoundedRate{"cost_per_million_tokens", false, &Rates::cost_per_million_tokens},
    BoundedRate{"tokens_per_s", true, &Rates::tokens_per_s},
    BoundedRate{"tokens_per_s_per_gpu", true, &Rates::tokens_per_s_per_gpu},
    BoundedRate{"samples_per_s", true, &Rates::samples_per_s},
    BoundedRate{"tflops_per_gpu", true, &Rates::tflops_per_gpu},
    BoundedRate{"mfu", true, &Rates::mfu},
    BoundedRate{"hfu", true, &Rates::hfu},
    BoundedRate{"gpu_hours_per_trillion_tokens", false, &Rates::gpu_hours_per_trillion_tokens}};

// Null: a bound of the time says nothing of it.
const BoundedRate* bounded_rate(const Objective& objective) {
  const auto* const row =
      std::find_if(kBoundedRates.begin(), kBoundedRates.end(), [&](const BoundedRate& one) {
        return one.larger_in_less_time == objective.larger_is_better &&
               is_field(objective.column, one.field);
      });
  return row == kBoundedRates.end() ? nullptr : row;
}

}  // namespace

std::vector<std::optional<double>> bounds_of(const Objectives& objectives, const ScenarioRun& run) {
  const double least_us = run.lower_bound_us();
  std::optional<Rates> rates;  // where one of them asks for it
  std::vector<std::optional<double>> bounds;
  bounds.reserve(objectives.size());
  for (const Objective& objective : objectives) {
    if (is_bounded_time(objective)) {
      bounds.emplace_back(least_us);
    } else if (const BoundedRate* const row = bounded_rate(objective); row != nullptr) {
      if (!rates) rates = run.rates_in(picoseconds(static_cast<std::int64_t>(least_us * 1e6)));
      bounds.push_back((*rates).*(row->rate));
    } else {
      bounds.emplace_back();
    }
  }
  return bounds;
}

bool is_bounded(const Objective& objective) {
  return is_bounded_time(objective) || bounded_rate(objective) != nullptr;
}

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
