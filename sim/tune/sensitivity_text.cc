#include "sim/tune/sensitivity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/core/plural.h"
#include "sim/report/aligned.h"
#include "sim/report/csv_line.h"
#include "sim/report/field_value.h"

namespace weft {
namespace {

constexpr double kLeastShown = 0.005;  // rounded to 0.01
constexpr std::size_t kMostShown = 25;
constexpr double kOf80Percent = 1.2816;  // standard deviations, of a normal distribution

std::string elasticity_text(double value) {
  return std::abs(value) < kLeastShown ? "." : fmt::format("{:+.2f}", value);
}

// Fused or any other mode over the first: what people ask for.
bool has_ratio(const Sensitivity& sensitivity) { return sensitivity.modes.size() > 1; }

double ratio_elasticity(const Elasticity& one) {
  return one.of_modes.back() - one.of_modes.front();
}

std::string ratio_name(const Sensitivity& sensitivity) {
  return sensitivity.modes.back() + " / " + sensitivity.modes.front();
}

bool matters(const Elasticity& one) {
  return std::any_of(one.of_modes.begin(), one.of_modes.end(),
                     [](double value) { return std::abs(value) >= kLeastShown; });
}

std::string range_text(double spread) {
  return fmt::format("+- {:.1f} %", kOf80Percent * spread * 100);
}

std::string times_text(const Sensitivity& sensitivity) {
  std::vector<TableRow> table{{"", "time", "80 % of what its numbers leave open"}};
  for (std::size_t mode = 0; mode < sensitivity.modes.size(); ++mode) {
    table.push_back({sensitivity.modes[mode],
                     table_text(FieldValue(sensitivity.time_us[mode]), Unit::us),
                     range_text(spread_of_mode(sensitivity, mode))});
  }
  if (has_ratio(sensitivity)) {
    const std::size_t last = sensitivity.modes.size() - 1;
    table.push_back(
        {ratio_name(sensitivity),
         fmt::format("{:.3f}", sensitivity.time_us.back() / sensitivity.time_us.front()),
         range_text(spread_of_mode(sensitivity, last, 0))});
  }
  return aligned(table);
}

// "[M] +- 3.0 %": with the spread that its fit says.
std::string source_text(const MachineNumber& number) {
  std::string tag = tag_of(number.sureness);
  if (!number.spread) return tag;
  return fmt::format("{}{}+- {:.1f} %", tag, tag.empty() ? "" : " ", number.spread->relative * 100);
}

std::string numbers_text(const Sensitivity& sensitivity, std::size_t shown) {
  TableRow head{"1 % more of", "is", "source"};
  head.insert(head.end(), sensitivity.modes.begin(), sensitivity.modes.end());
  if (has_ratio(sensitivity)) head.push_back(ratio_name(sensitivity));
  std::vector<TableRow> table{head};
  for (std::size_t i = 0; i < shown; ++i) {
    const Elasticity& one = sensitivity.all[i];
    TableRow row{one.number.path, one.number.value, source_text(one.number)};
    for (const double value : one.of_modes) row.push_back(elasticity_text(value));
    if (has_ratio(sensitivity)) row.push_back(elasticity_text(ratio_elasticity(one)));
    table.push_back(std::move(row));
  }
  return aligned(table);
}

}  // namespace

std::string text_of(const Sensitivity& sensitivity) {
  const auto mattering = static_cast<std::size_t>(
      std::count_if(sensitivity.all.begin(), sensitivity.all.end(), matters));
  const std::size_t shown = std::min(mattering, kMostShown);
  std::string text = times_text(sensitivity) + '\n' + numbers_text(sensitivity, shown);
  text += "\nChange of the times in per cent.";
  if (shown < mattering) text += fmt::format(" {} more change less.", mattering - shown);
  const std::size_t idle = sensitivity.all.size() - mattering;
  text += fmt::format(" {} {} nothing.", idle, plural(idle, "other changes", "others change"));
  if (!sensitivity.not_changed.empty()) {
    text += " No other value of these can be run:";
    for (const MachineNumber& number : sensitivity.not_changed) text += ' ' + number.path;
    text += '.';
  }
  return text + '\n';
}

std::string json_of(const Sensitivity& sensitivity) {
  nlohmann::ordered_json json;
  for (std::size_t mode = 0; mode < sensitivity.modes.size(); ++mode) {
    json["modes"][sensitivity.modes[mode]] = {
        {"us", sensitivity.time_us[mode]}, {"relative_spread", spread_of_mode(sensitivity, mode)}};
  }
  json["numbers"] = nlohmann::ordered_json::array();
  for (const Elasticity& one : sensitivity.all) {
    nlohmann::ordered_json row{
        {"path", one.number.path},
        {"value", one.number.value},
        {"source", tag_of(one.number.sureness)},
        {"said_at", fmt::format("{}:{}", one.number.at.file, one.number.at.line)},
        {"relative_spread", spread_of(one.number)}};
    for (std::size_t mode = 0; mode < sensitivity.modes.size(); ++mode) {
      row["elasticity"][sensitivity.modes[mode]] = one.of_modes[mode];
    }
    json["numbers"].push_back(std::move(row));
  }
  json["not_changed"] = nlohmann::ordered_json::array();
  for (const MachineNumber& number : sensitivity.not_changed) {
    json["not_changed"].push_back(number.path);
  }
  return json.dump(2) + '\n';
}

std::string csv_of(const Sensitivity& sensitivity) {
  std::string text = csv_line({"path", "value", "source", "relative_spread", "mode", "elasticity"});
  for (const Elasticity& one : sensitivity.all) {
    for (std::size_t mode = 0; mode < sensitivity.modes.size(); ++mode) {
      text += csv_line({one.number.path, one.number.value, tag_of(one.number.sureness),
                        csv_text(spread_of(one.number)), sensitivity.modes[mode],
                        csv_text(one.of_modes[mode])});
    }
  }
  return text;
}

}  // namespace weft
