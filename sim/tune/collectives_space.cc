#include "sim/tune/collectives_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/core/plain_text.h"
#include "sim/scenario/names.h"
#include "sim/tune/space_text.h"

namespace weft {
namespace {

constexpr std::size_t kMostValues = 6;      // of a collective, none of its ways included
constexpr std::size_t kMostPoints = 1'000;  // of all of them together

bool is_small(std::size_t values, std::size_t collectives) {
  std::size_t points = 1;
  for (std::size_t i = 0; i < collectives && points <= kMostPoints; ++i) points *= values;
  return points <= kMostPoints;
}

std::string axis_text(const CollectiveWays& one, std::size_t rule, const std::string& column,
                      std::size_t values) {
  std::string rules;
  std::string labels = "as_it_is";
  for (std::size_t i = 0; i < std::min(values - 1, one.ways.size()); ++i) {
    const CollectiveRule& way = one.ways[i].rule;
    std::string text;
    std::string label;
    for (const auto& [key, value] :
         knobs_of_collective(way.algorithm, way.protocol, way.channels)) {
      text += fmt::format(", {}: {}", key, value);
      label += fmt::format("{}{}:{}", label.empty() ? "" : "/", key, value);
    }
    rules += fmt::format("      - {{collective: {}{}}}  # {}\n", as_yaml(one.name), text,
                         microseconds_text(one.ways[i].time));
    labels += ", " + as_yaml(label);
  }
  return fmt::format(
      "  # A step's collectives of this name by themselves, as they are: {}.\n"
      "  - key: workload.collectives.{}\n    name: {}\n    values:\n      - ~\n{}"
      "    labels: [{}]\n",
      microseconds_text(one.as_it_is), rule, column, rules, labels);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> knobs_of_collective(
    const std::optional<AskedAlgorithm>& algorithm, const std::optional<Protocol>& protocol,
    int channels) {
  std::vector<std::pair<std::string, std::string>> knobs;
  for (const auto& word : names::kAlgorithmChoices) {
    if (algorithm == word.value) knobs.emplace_back("algorithm", word.name);
  }
  for (const auto& word : names::kProtocolWords) {
    if (protocol == word.value) knobs.emplace_back("protocol", word.name);
  }
  if (channels > 0) knobs.emplace_back("channels", std::to_string(channels));
  return knobs;
}

OtherAxes axes_of_collectives(const std::vector<CollectiveWays>& all, std::size_t rules) {
  std::size_t values = kMostValues;
  std::size_t number = all.size();
  while (values > 2 && !is_small(values, number)) --values;
  while (!is_small(values, number)) --number;
  OtherAxes axes;
  std::set<std::string> taken = columns_of_all();
  for (std::size_t i = 0; i < number; ++i) {
    const std::string column = column_of(all[i].name, taken);
    axes.columns.insert(column);
    axes.text += axis_text(all[i], rules + i, column, values);
    axes.points *= std::min(values, all[i].ways.size() + 1);
  }
  for (std::size_t i = number; i < all.size(); ++i) {
    axes.text += fmt::format("# Too many points with: {}\n", in_double_quotes(all[i].name));
  }
  return axes;
}

}  // namespace weft
