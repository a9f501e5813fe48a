#include "sim/tune/told.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/core/plural.h"
#include "sim/report/aligned.h"
#include "sim/report/field_value.h"
#include "sim/report/numbers.h"
#include "sim/run/version.h"
#include "sim/sweep/sweep_rows.h"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostLines = 10;  // of a list

std::string counted(std::size_t number, const char* one, const char* many) {
  return fmt::format("{} {}", count_text(static_cast<std::int64_t>(number)),
                     plural(number, one, many));
}

// "fused 1.234 ms" of a field that every mode has.
std::string achieved_text(const Trial& trial, const Objective& objective) {
  const std::string value = value_text(trial.achieved);
  if (trial.achieved.mode.empty()) return fmt::format("{} = {}", objective.column, value);
  return fmt::format("{} {}", trial.achieved.mode, value);
}

// ", memory_of_fullest_gpu_bytes 70.2 GB" of the other objectives.
std::string besides_text(const Trial& trial, const Objectives& objectives) {
  std::string text;
  for (std::size_t i = 0; i < trial.besides.size(); ++i) {
    text += fmt::format(", {} {}", objectives[i + 1].column, value_text(trial.besides[i]));
  }
  return text;
}

// How many times as good as another.
double gain(const Objective& objective, const Trial& trial, const Trial& other) {
  return cost_of(objective, other.achieved.value) / cost_of(objective, trial.achieved.value);
}

std::string searched_text(const Told& told) {
  const Tuned& tuned = told.tuned;
  const auto points = static_cast<std::int64_t>(told.plan.points.size());
  const auto number = [](std::size_t n) { return count_text(static_cast<std::int64_t>(n)); };
  std::string text = fmt::format("{}{} points: {} simulated", tuned.was_stopped ? "stopped; " : "",
                                 count_text(points), number(tuned.simulated));
  if (tuned.cannot_run > 0) {
    text += fmt::format(", {} cannot be run", number(tuned.cannot_run));
  }
  if (tuned.beyond_bound > 0) {
    text += fmt::format(", {} not simulated because their lower bound is above the best",
                        number(tuned.beyond_bound));
  }
  if (tuned.untried == 0) return text + "; so the best of all\n";
  text += fmt::format(", {} not tried", number(tuned.untried));
  if (!tuned.bound) return text + "\n";
  const Achieved& best = told.answer.trials.front().achieved;
  const bool larger = told.objective().larger_is_better;
  return text +
         fmt::format("; none of these can be {} {} ({:.1f} % {})\n", larger ? "above" : "below",
                     value_text({.value = *tuned.bound, .mode = "", .unit = best.unit}),
                     std::abs(*tuned.bound / best.value - 1) * 100, larger ? "more" : "less");
}

// Why some cannot be run.
std::string failures_text(const Told& told) {
  constexpr std::size_t kShown = 3;
  std::string text;
  const std::vector<FailedRows> failures = failures_of(told.tuned.rows);
  for (std::size_t i = 0; i < std::min(failures.size(), kShown); ++i) {
    text += fmt::format("  {}: {}\n", counted(failures[i].rows, "cannot be run", "cannot be run"),
                        failures[i].first->outcome.error);
  }
  if (failures.size() > kShown) {
    text += fmt::format("  ... and {} in results.csv\n",
                        counted(failures.size() - kShown, "more reason", "more reasons"));
  }
  return text;
}

std::string start_text(const Told& told) {
  const Answer& answer = told.answer;
  if (!answer.start) return "the scenario as it is cannot be run, or has no such result\n";
  const double times = gain(told.objective(), answer.trials.front(), *answer.start);
  const std::string as_it_is = achieved_text(*answer.start, told.objective());
  if (times < 1) return fmt::format("the scenario as it is is better: {}\n", as_it_is);
  return fmt::format("{} the scenario as it is ({}){}\n", ratio_text(times), as_it_is,
                     times <= 1 + told.tie ? ", which weft cannot tell apart" : "");
}

// Where the scenario says other values.
std::string defaults_text(const Told& told) {
  const Answer& answer = told.answer;
  if (!answer.defaults) return "";
  return fmt::format("{} the same with weft's defaults of these keys ({})\n",
                     ratio_text(gain(told.objective(), answer.trials.front(), *answer.defaults)),
                     achieved_text(*answer.defaults, told.objective()));
}

// How much more the value is, of a share by which it costs more.
std::string percent_more(const Objective& objective, double costs_more) {
  const double share = objective.larger_is_better ? 1 / (1 + costs_more) - 1 : costs_more;
  return share > 1000 ? "far more" : fmt::format("{:+.1f} %", share * 100);
}

std::string knob_value_text(const Objective& objective, const KnobValue& value) {
  switch (value.known) {
    case KnobValue::Known::cannot_be:
      return value.text + " no";
    case KnobValue::Known::untried:
      return value.text + " ?";
    case KnobValue::Known::estimated:
      return fmt::format("{} ~{}", value.text, percent_more(objective, value.longer));
    case KnobValue::Known::simulated:
      return fmt::format("{} {}", value.text, percent_more(objective, value.longer));
  }
  return "";
}

std::string knobs_text(const Told& told) {
  std::vector<TableRow> table{
      {"knob", "best", "as it is", "other values, all else as in the best"}};
  for (const Knob& knob : told.answer.knobs) {
    std::string others;
    for (std::size_t i = 0; i < knob.values.size(); ++i) {
      if (i == knob.best) continue;
      others += (others.empty() ? "" : ",  ") + knob_value_text(told.objective(), knob.values[i]);
    }
    table.push_back({knob.name, knob.values[knob.best].text,
                     knob.start ? knob.values[*knob.start].text : "-", others});
  }
  const double error = told.answer.estimate_error;
  const std::string off =
      std::isfinite(error) ? fmt::format("+- {:.1f} %", error * 100) : "from one point alone";
  return aligned(table) +
         fmt::format(
             "no: filtered, or cannot be run; ~: estimated, {}; ?: nothing with it "
             "was simulated\n",
             off);
}

std::string pairs_text(const Told& told) {
  std::string text;
  for (const KnobPair& pair : told.answer.pairs) {
    text += fmt::format("{} and {} matter together: up to {:.0f} % besides what each does\n",
                        told.answer.knobs[pair.one].name, told.answer.knobs[pair.other].name,
                        pair.interaction * 100);
  }
  return text;
}

std::string name_of(const Told& told, const Trial& trial) {
  return weft::name_of(*trial.row, columns_of(told.plan));
}

std::string ties_text(const Told& told) {
  const Answer& answer = told.answer;
  if (answer.ties == 0) {
    return fmt::format("no other is within {:g} %, which weft cannot tell apart\n", told.tie * 100);
  }
  std::string text = fmt::format(
      "{} within {:g} %, which weft cannot tell apart; other knobs as in "
      "the best:\n",
      counted(answer.ties, "other is", "others are"), told.tie * 100);
  for (std::size_t i = 1; i <= std::min(answer.ties, kMostLines); ++i) {
    const Trial& trial = answer.trials[i];
    text += fmt::format(
        "  {} {}  {}\n",
        percent_more(told.objective(), gain(told.objective(), answer.trials.front(), trial) - 1),
        trial.achieved.mode,
        difference_of(*trial.row, *answer.trials.front().row, columns_of(told.plan)));
  }
  if (answer.ties > kMostLines)
    text += fmt::format("  ... and {} more\n", answer.ties - kMostLines);
  return text;
}

std::string front_text(const Told& told) {
  const Answer& answer = told.answer;
  if (answer.front.size() < 2) return "";
  const bool with_memory = told.objectives.size() == 1;
  TableRow head;
  if (with_memory) head.emplace_back("memory");
  for (const Objective& objective : told.objectives) head.push_back(objective.column);
  head.emplace_back(head.size() == 2 ? "none is better in both" : "none is better in all");
  std::vector<TableRow> table{head};
  for (std::size_t i = 0; i < std::min(answer.front.size(), kMostLines); ++i) {
    const Trial& trial = answer.trials[answer.front[i]];
    TableRow row;
    if (with_memory) row.push_back(bytes_text(static_cast<std::int64_t>(*trial.memory_bytes)));
    row.push_back(value_text(trial.achieved));
    for (const Achieved& other : trial.besides) row.push_back(value_text(other));
    row.push_back(name_of(told, trial));
    table.push_back(std::move(row));
  }
  const std::size_t more = answer.front.size() - std::min(answer.front.size(), kMostLines);
  return '\n' + aligned(table) +
         (more > 0 ? fmt::format("... and {} more in tune.json\n", more) : "");
}

Json json_of(const Objective& objective) {
  return {{"column", objective.column},
          {"better", objective.larger_is_better ? "larger" : "smaller"}};
}

Json json_of(const Told& told, const Trial& trial) {
  Json json;
  json["value"] = trial.achieved.value;
  if (!trial.achieved.mode.empty()) json["mode"] = trial.achieved.mode;
  for (std::size_t i = 0; i < trial.besides.size(); ++i) {
    json["besides"][told.objectives[i + 1].column] = trial.besides[i].value;
  }
  if (trial.memory_bytes) json["memory_of_fullest_gpu_bytes"] = *trial.memory_bytes;
  const std::vector<AxisColumn> columns = columns_of(told.plan);
  for (std::size_t i = 0; i < trial.row->cells.size(); ++i) {
    const Cell& cell = trial.row->cells[i];
    const auto* number = std::get_if<double>(&cell);
    json["values"][columns[i].column] = number != nullptr ? Json(*number) : Json(text_of(cell));
  }
  json["command"] = trial.row->command;
  return json;
}

Json json_of(const Knob& knob) {
  Json json{{"name", knob.name}, {"best", knob.values[knob.best].text}};
  if (knob.start) json["as_it_is"] = knob.values[*knob.start].text;
  for (const KnobValue& value : knob.values) {
    Json one{{"value", value.text}};
    switch (value.known) {
      case KnobValue::Known::cannot_be:
        one["cannot_be"] = true;
        break;
      case KnobValue::Known::untried:
        one["untried"] = true;
        break;
      case KnobValue::Known::estimated:
        one["estimated"] = true;
        [[fallthrough]];
      case KnobValue::Known::simulated:
        one["longer"] = value.longer;
    }
    json["values"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

std::string value_text(const Achieved& achieved) {
  const double value = achieved.value;
  if (shown_as(achieved.unit) != ShownAs::number) {
    return table_text(FieldValue(value), achieved.unit);
  }
  if (value >= 1000) return count_text(std::llround(value));
  return fmt::format("{:.4g}", value);
}

std::string text_of(const Told& told) {
  const Trial& best = told.answer.trials.front();
  return fmt::format("best: {}{}  {}\n", achieved_text(best, told.objective()),
                     besides_text(best, told.objectives), name_of(told, best)) +
         start_text(told) + defaults_text(told) + searched_text(told) + failures_text(told) +
         ties_text(told) + '\n' + knobs_text(told) + pairs_text(told) + front_text(told);
}

std::string json_of(const Told& told) {
  const Answer& answer = told.answer;
  const Tuned& tuned = told.tuned;
  Json json{{"name", told.plan.name},
            {"scenario", told.plan.scenario.generic_string()},
            {"version", kVersion},
            {"command", told.command},
            {"stopped", tuned.was_stopped},
            {"objective", json_of(told.objective())},
            {"points",
             {{"all", told.plan.points.size()},
              {"simulated", tuned.simulated},
              {"cannot_be_run", tuned.cannot_run},
              {"beyond_bound", tuned.beyond_bound},
              {"not_tried", tuned.untried}}}};
  for (std::size_t i = 1; i < told.objectives.size(); ++i) {
    json["besides"].push_back(json_of(told.objectives[i]));
  }
  json["best"] = json_of(told, answer.trials.front());
  if (answer.start) {
    json["as_it_is"] = {{"value", answer.start->achieved.value},
                        {"mode", answer.start->achieved.mode},
                        {"gain", gain(told.objective(), answer.trials.front(), *answer.start)}};
  }
  if (answer.defaults) {
    json["defaults"] = {{"value", answer.defaults->achieved.value},
                        {"mode", answer.defaults->achieved.mode},
                        {"gain", gain(told.objective(), answer.trials.front(), *answer.defaults)}};
  }
  if (tuned.bound) json["bound"] = *tuned.bound;
  json["tie"] = told.tie;
  json["ties"] = Json::array();
  for (std::size_t i = 1; i <= answer.ties; ++i) {
    json["ties"].push_back(json_of(told, answer.trials[i]));
  }
  for (const Knob& knob : answer.knobs) json["knobs"].push_back(json_of(knob));
  json["pairs"] = Json::array();
  for (const KnobPair& pair : answer.pairs) {
    json["pairs"].push_back(
        {{"knobs", {answer.knobs[pair.one].name, answer.knobs[pair.other].name}},
         {"interaction", pair.interaction}});
  }
  for (const std::size_t i : answer.front) {
    json["front"].push_back(json_of(told, answer.trials[i]));
  }
  return json.dump(2) + '\n';
}

}  // namespace weft
