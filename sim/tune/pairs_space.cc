#include "sim/tune/pairs_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "sim/core/plain_text.h"
#include "sim/run/scenario_run.h"
#include "sim/scenario/modes.h"
#include "sim/scenario/names.h"
#include "sim/scenario/sweep_file.h"
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

std::string quoted(const std::string& text) {
  return flow_text(node_at({}, Node::Kind::scalar, text));
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
  for (const auto& algorithm : names::kAlgorithmChoices) {
    if (rule.algorithm == algorithm.value) knobs.emplace_back("algorithm", algorithm.name);
  }
  for (const auto& protocol : names::kProtocolWords) {
    if (rule.protocol == protocol.value) knobs.emplace_back("protocol", protocol.name);
  }
  add("channels", rule.channels);
  return knobs;
}

std::string rule_text(const PairRule& rule) {
  std::string text = fmt::format("{{pair: {}, mode: {}", quoted(rule.pair), name_of(rule.mode));
  for (const auto& [key, value] : knobs_of(rule)) text += fmt::format(", {}: {}", key, value);
  return text + '}';
}

std::string label_of(const PairRule& rule) {
  std::string text = name_of(rule.mode);
  for (const auto& [key, value] : knobs_of(rule)) text += fmt::format("/{}:{}", key, value);
  return text;
}

// A word that no other column has, from an operator's name.
std::string column_of(const std::string& name, std::set<std::string>& taken) {
  std::string word;
  for (const char c : name) {
    word += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  if (word.empty() || std::isdigit(static_cast<unsigned char>(word.front())) != 0) {
    word.insert(0, "pair_");
  }
  std::string column = word;
  for (int i = 2; !taken.insert(column).second; ++i) column = fmt::format("{}_{}", word, i);
  return column;
}

std::string time_text(Duration time) { return fmt::format("{:.1f} us", to_microseconds(time)); }

std::string axis_text(const PairWays& pair, std::size_t rule, const std::string& column,
                      std::size_t ways) {
  std::string values;
  std::string labels = "as_it_is";
  for (std::size_t i = 0; i < std::min(ways - 1, pair.ways.size()); ++i) {
    const TriedWay& way = pair.ways[i];
    values += fmt::format("      - {}  # {}\n", rule_text(way.rule), time_text(way.time));
    labels += ", " + quoted(label_of(way.rule));
  }
  return fmt::format(
      "  # A step's pairs by themselves; bulk: {}.\n"
      "  - key: workload.pairs.{}\n    name: {}\n    values:\n      - ~\n{}    labels: [{}]\n",
      time_text(pair.bulk), rule, column, values, labels);
}

// Those of a key that load, the scenario's own first; one alone is no axis.
class AxesOfCollectives {
 public:
  AxesOfCollectives(const std::filesystem::path& file, const LoadOptions& options,
                    const Loaded& start)
      : file_(file), options_(options), start_(start) {}

  OtherAxes axes() {
    const CollectiveOptions& own = start_.scenario->collective;
    const int usual =
        own.channels > 0 ? own.channels : start_.scenario->cluster.gpu.collective.channels;
    add("collective.algorithm",
        {std::string(names::word(names::kAlgorithmChoices, own.algorithm)), "library", "auto"});
    add("collective.channels", {own.channels > 0 ? std::to_string(own.channels) : "~",
                                std::to_string(std::max(1, usual / 2)), std::to_string(2 * usual)});
    return std::move(axes_);
  }

 private:
  [[nodiscard]] bool loads(const std::string& set) const {
    LoadOptions with = options_;
    with.sets.push_back(set);
    const Loaded loaded = load_scenario(file_, with);
    return loaded.scenario && loaded.problems.all().size() <= start_.problems.all().size();
  }

  void add(const std::string& key, const std::vector<std::string>& all) {
    for (const std::string& set : options_.sets) {
      if (set.starts_with(key + '=') || set.starts_with("collective=")) return;
    }
    std::vector<std::string> values;
    for (const std::string& value : all) {
      const bool is_known = std::find(values.begin(), values.end(), value) != values.end();
      if (!is_known && loads(fmt::format("{}={}", key, value))) values.push_back(value);
    }
    if (values.size() < 2) return;
    if (axes_.text.empty()) {
      axes_.text = "  # Collectives that are in no pair, or whose pair no rule speaks of.\n";
    }
    axes_.text += fmt::format("  - {{key: {}, values: [{}]}}\n", key, fmt::join(values, ", "));
    axes_.points *= values.size();
  }

  const std::filesystem::path& file_;
  const LoadOptions& options_;
  const Loaded& start_;
  OtherAxes axes_;
};

}  // namespace

std::string text_of_pairs(const std::vector<PairWays>& pairs, std::size_t rules,
                          const std::string& head, const OtherAxes& others) {
  const Extent extent = extent_of(pairs.size(), others.points);
  std::string text = head + others.text;
  std::set<std::string> columns{"point", "status", "error", "algorithm", "channels"};
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
  const std::vector<PairWays> pairs = run.pair_ways(how);
  if (pairs.empty()) {
    space.problems.add({.at = {.file = scenario.generic_string()},
                        .path = "workload",
                        .message = "the model has no pair that could be overlapped in another way",
                        .source_line = ""});
    return space;
  }
  space.text = text_of_pairs(pairs, loaded.scenario->workload.pairs.size(),
                             text_of(SpaceHead{.what = "Ways of single pairs of",
                                               .scenario = named,
                                               .suffix = "_pairs",
                                               .mode = Mode::mixed,
                                               .sets = options.sets}),
                             AxesOfCollectives(scenario, mixed, loaded).axes());
  return space;
}

}  // namespace weft
