#include "sim/tune/pairs_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sim/core/plain_text.h"
#include "sim/run/scenario_run.h"
#include "sim/scenario/modes.h"
#include "sim/scenario/names.h"
#include "sim/scenario/sweep_file.h"
#include "sim/tune/collectives_space.h"
#include "sim/tune/space_text.h"

namespace weft {
namespace {

constexpr std::size_t kMostWays = 12;  // of a pair, none of them included

// Ways of each, and of how many pairs.
struct Extent {
  std::size_t ways = 0;
  std::size_t pairs = 0;
  std::size_t others = 1;  // points of other axes
};

bool is_small(const Extent& extent) {
  std::size_t points = extent.others;
  for (std::size_t i = 0; i < extent.pairs && points <= kMostPointsOfSpace; ++i) {
    points *= extent.ways;
  }
  return points <= kMostPointsOfSpace;
}

Extent extent_of(std::size_t pairs, std::size_t others) {
  Extent extent{.ways = kMostWays, .pairs = pairs, .others = others};
  while (extent.ways > 2 && !is_small(extent)) --extent.ways;
  while (!is_small(extent)) --extent.pairs;
  return extent;
}

// A rule's knobs, each with its value: "slice_wgs", "4".
std::vector<std::pair<std::string, std::string>> knobs_of(const PairRule& rule) {
  std::vector<std::pair<std::string, std::string>> knobs;
  const auto add = [&knobs](const char* key, int value) {
    if (value > 0) knobs.emplace_back(key, std::to_string(value));
  };
  for (const auto& order : names::kOrders) {
    if (rule.order == order.value) knobs.emplace_back("order", order.name);
  }
  add("slice_wgs", rule.slice_wgs);
  add("max_wgs_per_cu", rule.max_wgs_per_cu);
  add("own_first", rule.own_first);
  for (const auto& when : names::kFusedAdds) {
    if (rule.add == when.value) knobs.emplace_back("add", when.name);
  }
  add("sending_cus", rule.sending_cus);
  add("chunks", rule.chunks);
  add("tile_m", rule.tile_m);
  add("tile_n", rule.tile_n);
  for (const auto& knob : knobs_of_collective(rule.algorithm, rule.protocol, rule.channels)) {
    knobs.push_back(knob);
  }
  return knobs;
}

std::string rule_text(const PairRule& rule) {
  std::string text = fmt::format("{{pair: {}, mode: {}", as_yaml(rule.pair), name_of(rule.mode));
  for (const auto& [key, value] : knobs_of(rule)) text += fmt::format(", {}: {}", key, value);
  return text + '}';
}

std::string label_of(const PairRule& rule) {
  std::string text = name_of(rule.mode);
  for (const auto& [key, value] : knobs_of(rule)) text += fmt::format("/{}:{}", key, value);
  return text;
}

std::string axis_text(const PairWays& pair, std::size_t rule, const std::string& column,
                      std::size_t ways) {
  std::string values;
  std::string labels = "as_it_is";
  for (std::size_t i = 0; i < std::min(ways - 1, pair.ways.size()); ++i) {
    const TriedWay& way = pair.ways[i];
    values += fmt::format("      - {}  # {}\n", rule_text(way.rule), microseconds_text(way.time));
    labels += ", " + as_yaml(label_of(way.rule));
  }
  return fmt::format(
      "  # A step's pairs by themselves; bulk: {}.\n"
      "  - key: workload.pairs.{}\n    name: {}\n    values:\n      - ~\n{}    labels: [{}]\n",
      microseconds_text(pair.bulk), rule, column, values, labels);
}

bool sets_any(const std::vector<std::string>& sets, const std::string& key) {
  return std::any_of(sets.begin(), sets.end(),
                     [&key](const std::string& set) { return set.starts_with(key); });
}

}  // namespace

std::string text_of_pairs(const std::vector<PairWays>& pairs, std::size_t rules,
                          const std::string& head, const OtherAxes& others) {
  const Extent extent = extent_of(pairs.size(), others.points);
  std::string text = head + others.text;
  std::set<std::string> columns = columns_of_all();
  columns.insert(others.columns.begin(), others.columns.end());
  for (std::size_t i = 0; i < extent.pairs; ++i) {
    text += axis_text(pairs[i], rules + i, column_of(pairs[i].computing, columns), extent.ways);
  }
  for (std::size_t i = extent.pairs; i < pairs.size(); ++i) {
    text += fmt::format("# Too many points with: {}\n", in_double_quotes(pairs[i].name));
  }
  return text;
}

PairsSpace pairs_space(const std::filesystem::path& scenario, const LoadOptions& options,
                       const std::string& named, const PairTrials& how, KnownRuns& known) {
  PairsSpace space;
  LoadOptions mixed = options;
  mixed.sets.push_back(fmt::format("modes=[{}]", name_of(Mode::mixed)));
  Loaded loaded = load_scenario(scenario, mixed);
  if (!loaded.scenario) {
    space.problems = std::move(loaded.problems);
    return space;
  }
  loaded.scenario->run.known = &known;
  const ScenarioRun run(loaded);
  space.problems.append(run.problems());
  if (run.ready()) space.problems.append(run.check(scenario.generic_string()));
  if (!run.ready() || space.problems.has_errors()) return space;
  const ScenarioRun::Ways ways = run.ways(how);
  const bool fixed = sets_any(options.sets, "workload.collectives");
  const OtherAxes others =
      fixed ? OtherAxes{}
            : axes_of_collectives(ways.collectives, loaded.scenario->workload.collectives.size());
  if (ways.pairs.empty() && others.text.empty()) {
    space.problems.add({.at = {.file = scenario.generic_string()},
                        .path = "workload",
                        .message =
                            "the model has no pair that could be overlapped in another way, and no "
                            "collective that could be run in another",
                        .source_line = ""});
    return space;
  }
  space.text = text_of_pairs(ways.pairs, loaded.scenario->workload.pairs.size(),
                             text_of(SpaceHead{.what = "Ways of single pairs of",
                                               .scenario = named,
                                               .suffix = "_pairs",
                                               .mode = Mode::mixed,
                                               .sets = options.sets}),
                             others);
  return space;
}

}  // namespace weft
