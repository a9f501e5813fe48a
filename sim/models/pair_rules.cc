#include "sim/models/pair_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "sim/core/diagnostics.h"
#include "sim/models/pair_knobs.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

bool speaks_of_layers(const PairRule& rule) { return rule.from_layer >= 0 || rule.to_layer >= 0; }

std::uint64_t bit(std::size_t rule) { return std::uint64_t{1} << rule; }

// Whether `text` is the whole name, or that of one of the operators in it.
bool names(const std::string& text, std::string_view name) {
  if (text == name) return true;
  constexpr std::string_view kAnd = " + ";
  for (std::size_t end = name.find(kAnd); end != std::string_view::npos; end = name.find(kAnd)) {
    if (text == name.substr(0, end)) return true;
    name.remove_prefix(end + kAnd.size());
  }
  return text == name;
}

struct PairOfLayer {
  const std::string& name;
  WorkloadKind pattern;
  std::uint64_t layer_rules = 0;
};

// `index`: of the rule.
bool fits(const PairRule& rule, std::size_t index, const PairOfLayer& pair) {
  if (speaks_of_layers(rule) && (pair.layer_rules & bit(index)) == 0) return false;
  return rule.pair.empty() || rule.pair == name_of(pair.pattern) || names(rule.pair, pair.name);
}

// Each pair of the pieces that nothing keeps from being overlapped, with what rules know it by.
template <class Visit>
void for_each_pair(const std::vector<Piece>& pieces, const GpuSpec& gpu, const Visit& visit) {
  for (const Piece& piece : pieces) {
    for (const Fusion& fusion : find_fusions(piece.graph(), gpu)) {
      if (!fusion.obstacle.empty()) continue;
      const std::string name = name_of(piece.graph(), fusion);
      visit(piece.graph(), fusion,
            PairOfLayer{name, fusion.pattern, piece.graph().ops[computing(fusion)].layer_rules});
    }
  }
}

// What a rule can call the pairs of a model of which nothing keeps them from being overlapped.
struct Words {
  std::set<std::string> pairs;
  std::set<std::string> patterns;
  std::set<std::string> operators;
};
Words words_for(const std::vector<Piece>& pieces, const GpuSpec& gpu) {
  Words words;
  for_each_pair(pieces, gpu,
                [&](const ModelGraph& graph, const Fusion& fusion, const PairOfLayer& pair) {
                  words.pairs.insert(pair.name);
                  words.patterns.insert(name_of(fusion.pattern));
                  for (const OpId id : {fusion.first, fusion.second}) {
                    words.operators.insert(graph.ops[id].name);
                  }
                });
  return words;
}

// The slices that the pair gets; as asked where its tiles do not come in slices.
int whole_slice(const ModelGraph& graph, const Fusion& fusion, const Cluster& cluster,
                const PairWay& way) {
  const PeerCall with = peer_call(graph, fusion);
  const ModelOp op = with_tile(fused_operator(graph, fusion), with, cluster.spec.gpu, way);
  const PeerGrid grid = peer_shape(op, with, cluster.spec.gpu);
  if (!grid.grid || grid.grid->scattered) return way.options.fused.slice_wgs;
  return with_whole_slices(way.options, *grid.grid, fusion.travels).fused.slice_wgs;
}

std::string no_pair(const PairRule& rule, const Words& words) {
  if (words.pairs.empty()) return "the model has no pair that could be overlapped";
  if (rule.pair.empty()) return "no pair of these layers could be overlapped";
  std::vector<std::string> all(words.operators.begin(), words.operators.end());
  all.insert(all.end(), words.pairs.begin(), words.pairs.end());
  all.insert(all.end(), words.patterns.begin(), words.patterns.end());
  const std::string guess = nearest(rule.pair, all);
  return fmt::format("no pair that could be overlapped{} is '{}'{}; there are: {}; of patterns {}",
                     speaks_of_layers(rule) ? ", of these layers," : "", rule.pair,
                     guess.empty() ? "" : " (did you mean '" + guess + "'?)",
                     fmt::join(words.pairs, ", "), fmt::join(words.patterns, ", "));
}

}  // namespace

std::uint64_t rules_of_layer(const PairRules& rules, int layer) {
  std::uint64_t of_layer = 0;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const PairRule& rule = rules[i];
    if (layer < 0 || !speaks_of_layers(rule)) continue;
    const bool is_in = layer >= rule.from_layer && (rule.to_layer < 0 || layer <= rule.to_layer);
    if (is_in) of_layer |= bit(i);
  }
  return of_layer;
}

const PairRule* rule_of(const PairRules& rules, const std::string& name, WorkloadKind pattern,
                        std::uint64_t of_layer) {
  for (std::size_t i = rules.size(); i > 0; --i) {
    if (fits(rules[i - 1], i - 1, {name, pattern, of_layer})) return &rules[i - 1];
  }
  return nullptr;
}

PairWay way_by(const PairRule& rule, OverlapOptions options) {
  const auto take = [](int from, int& into) {
    if (from > 0) into = from;
  };
  if (rule.order) options.fused.order = *rule.order;
  take(rule.slice_wgs, options.fused.slice_wgs);
  take(rule.max_wgs_per_cu, options.fused.max_wgs_per_cu);
  take(rule.sending_cus, options.fused.sending_cus);
  take(rule.own_first, options.fused.own_first);
  if (rule.add) options.fused.add = *rule.add;
  take(rule.chunks, options.kernel.chunks);
  take(rule.channels, options.collective.channels);
  if (rule.algorithm) options.collective.algorithm = *rule.algorithm;
  if (rule.protocol) options.collective.protocol = rule.protocol;
  const GemmTile tile{.m = rule.tile_m, .n = rule.tile_n};
  return {
      .mode = rule.mode,
      .options = options,
      .tile = tile,
      .changes_bulk = tile != GemmTile{} || rule.channels > 0 || rule.algorithm || rule.protocol};
}

std::string name_of(const ModelGraph& graph, const Fusion& fusion) {
  std::string name = graph.ops[fusion.first].name;
  if (!fusion.through.is_none()) name += " + " + graph.ops[fusion.through].name;
  return name + " + " + graph.ops[fusion.second].name;
}

std::vector<AboutRule> idle_rules(const PairRules& rules, const std::vector<Piece>& pieces,
                                  const Cluster& cluster) {
  constexpr const char* kLater = "no effect: for each pair that it fits a later rule counts";
  std::vector<std::string> why(rules.size());
  std::vector<bool> used(rules.size());
  const auto judge = [&](const ModelGraph& graph, const Fusion& fusion, const PairOfLayer& pair) {
    const PairRule* counts = rule_of(rules, pair.name, pair.pattern, pair.layer_rules);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (!fits(rules[i], i, pair)) continue;
      const std::string_view obstacle = why_not(graph, fusion, cluster, rules[i].mode);
      if (&rules[i] != counts) {
        if (why[i].empty()) why[i] = kLater;
      } else if (obstacle.empty()) {
        used[i] = true;
      } else {
        why[i] =
            fmt::format("{} cannot be {}: {}", pair.name, weft::name_of(rules[i].mode), obstacle);
      }
    }
  };
  for_each_pair(pieces, cluster.spec.gpu, judge);
  std::vector<AboutRule> idle;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (used[i]) continue;
    const bool fitted = !why[i].empty();
    idle.push_back(
        {.rule = i,
         .message = fitted ? why[i] : no_pair(rules[i], words_for(pieces, cluster.spec.gpu)),
         .severity = why[i] == kLater ? Severity::warning : Severity::error});
  }
  return idle;
}

std::vector<AboutRule> fitted_slices(const PairRules& rules, const std::vector<Piece>& pieces,
                                     const Cluster& cluster, const OverlapOptions& of_scenario) {
  std::vector<std::string> fitted(rules.size());
  const auto fit = [&](const ModelGraph& graph, const Fusion& fusion, const PairOfLayer& pair) {
    const PairRule* rule = rule_of(rules, pair.name, pair.pattern, pair.layer_rules);
    if (rule == nullptr || rule->slice_wgs == 0 || !is_fused(rule->mode)) return;
    if (!suits(graph, fusion, cluster, rule->mode)) return;
    const int slice = whole_slice(graph, fusion, cluster, way_by(*rule, of_scenario));
    std::string& message = fitted[static_cast<std::size_t>(rule - rules.data())];
    if (slice == rule->slice_wgs || !message.empty()) return;
    message = fmt::format("{} does not divide what {} has for each peer; {} is used",
                          rule->slice_wgs, pair.name, slice);
  };
  for_each_pair(pieces, cluster.spec.gpu, fit);
  std::vector<AboutRule> all;
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    if (!fitted[i].empty()) all.push_back({i, fitted[i], Severity::warning, "slice_wgs"});
  }
  return all;
}

std::vector<AboutRule> idle_knobs(const PairRules& rules, const std::vector<Piece>& pieces,
                                  const Cluster& cluster, const OverlapOptions& of_scenario) {
  struct About {
    std::string why;
    bool has = false;  // some pair has the knob
  };
  std::map<std::pair<std::size_t, std::string>, About> knobs;  // by rule and key
  const auto judge = [&](const ModelGraph& graph, const Fusion& fusion, const PairOfLayer& pair) {
    const PairRule* rule = rule_of(rules, pair.name, pair.pattern, pair.layer_rules);
    if (rule == nullptr || !suits(graph, fusion, cluster, rule->mode)) return;
    const std::vector<IdleKnob> idle = idle_knobs_of(graph, fusion, cluster, of_scenario, *rule);
    for (const char* key : kKnobsOfSome) {
      About& about = knobs[{static_cast<std::size_t>(rule - rules.data()), key}];
      const auto why = std::find_if(idle.begin(), idle.end(),
                                    [key](const IdleKnob& knob) { return knob.key == key; });
      about.has = about.has || why == idle.end();
      if (why != idle.end() && about.why.empty()) about.why = pair.name + ' ' + why->why;
    }
  };
  for_each_pair(pieces, cluster.spec.gpu, judge);
  std::vector<AboutRule> all;
  for (const auto& [of, about] : knobs) {
    if (about.why.empty()) continue;
    all.push_back({.rule = of.first,
                   .message = about.has ? "no effect on some pairs: " + about.why : about.why,
                   .severity = about.has ? Severity::warning : Severity::error,
                   .key = of.second});
  }
  return all;
}

}  // namespace weft
