#include "sim/models/collective_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <variant>

#include "sim/core/nearest.h"
#include "sim/models/pair_knobs.h"

namespace weft {
namespace {

bool fits(const CollectiveRule& rule, const ModelGraph& graph, const ModelOp& op) {
  if (!rule.collective.empty() && rule.collective != op.name) return false;
  if (rule.from_layer < 0 && rule.to_layer < 0) return true;
  const int layer = op.block.is_none() ? -1 : graph.blocks[op.block].layer;
  return layer >= 0 && layer >= rule.from_layer && (rule.to_layer < 0 || layer <= rule.to_layer);
}

// The rule that counts; null: none does.
const CollectiveRule* rule_of(const CollectiveRules& rules, const ModelGraph& graph,
                              const ModelOp& op) {
  const auto last = std::find_if(rules.rbegin(), rules.rend(),
                                 [&](const CollectiveRule& rule) { return fits(rule, graph, op); });
  return last == rules.rend() ? nullptr : &*last;
}

std::string no_collective(const CollectiveRule& rule, const ModelGraph& graph) {
  std::set<std::string> names;
  for (const ModelOp& op : graph.ops) {
    if (can_be_ruled(op)) names.insert(op.name);
  }
  if (names.empty()) return "the model has no collective";
  if (rule.collective.empty()) return "these layers have no collective";
  const std::string guess = nearest(rule.collective, {names.begin(), names.end()});
  const bool of_layers = rule.from_layer >= 0 || rule.to_layer >= 0;
  return fmt::format("no collective{} is '{}'{}; there are: {}",
                     of_layers ? " of these layers" : "", rule.collective,
                     guess.empty() ? "" : " (did you mean '" + guess + "'?)",
                     fmt::join(names, ", "));
}

// What becomes of a rule.
struct Use {
  bool fits = false;
  bool counts = false;
  bool changes = false;  // one for which it counts
  std::string key;       // that changes nothing of the first such collective ..
  std::string why;       // .. because
};

// What the rule says that changes nothing of this collective.
void judge(const CollectiveRule& rule, const ModelGraph& graph, const ModelOp& op,
           const Cluster& cluster, const CollectiveOptions& of_scenario, Use& use) {
  const auto& call = std::get<CommunicationShape>(op.shape);
  std::string key = "collective";
  std::string why = why_not_by_library(call, of_scenario.executor);
  if (why.empty() && rule.algorithm) {
    key = "algorithm";
    why = why_no_algorithm(*rule.algorithm, cluster, call, graph.places[op.place]);
  }
  if (why.empty()) use.changes = true;
  if (why.empty() || !use.why.empty()) return;
  use.key = key;
  use.why = op.name + ' ' + why;
}

}  // namespace

CollectiveOptions options_by(const CollectiveRule& rule, CollectiveOptions options) {
  if (rule.algorithm) options.algorithm = *rule.algorithm;
  if (rule.protocol) options.protocol = rule.protocol;
  if (rule.channels > 0) options.channels = rule.channels;
  return options;
}

CollectiveOptions options_of(const CommunicationShape& call, const CollectiveOptions& of_scenario) {
  return call.own ? *call.own : of_scenario;
}

bool can_be_ruled(const ModelOp& op) {
  const auto* call = std::get_if<CommunicationShape>(&op.shape);
  return call != nullptr && call->op != CollectiveOp::point_to_point;
}

void set_own_options(ModelGraph& graph, const CollectiveRules& rules,
                     const CollectiveOptions& of_scenario) {
  if (rules.empty()) return;
  for (ModelOp& op : graph.ops) {
    if (!can_be_ruled(op)) continue;
    const CollectiveRule* rule = rule_of(rules, graph, op);
    if (rule == nullptr) continue;
    std::get<CommunicationShape>(op.shape).own = options_by(*rule, of_scenario);
  }
}

std::vector<AboutRule> idle_rules(const CollectiveRules& rules, const ModelGraph& graph,
                                  const Cluster& cluster, const CollectiveOptions& of_scenario) {
  std::vector<Use> uses(rules.size());
  for (const ModelOp& op : graph.ops) {
    if (rules.empty() || !can_be_ruled(op)) continue;
    const CollectiveRule* counts = rule_of(rules, graph, op);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      Use& use = uses[i];
      use.fits = use.fits || fits(rules[i], graph, op);
      if (&rules[i] != counts) continue;
      use.counts = true;
      if (!use.changes || use.why.empty()) {
        judge(rules[i], graph, op, cluster, of_scenario, use);
      }
    }
  }
  std::vector<AboutRule> idle;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Use& use = uses[i];
    if (!use.fits) {
      idle.push_back({.rule = i, .message = no_collective(rules[i], graph), .key = "collective"});
    } else if (!use.counts) {
      idle.push_back({.rule = i,
                      .message = "no effect: for each collective that it fits a later rule counts",
                      .severity = Severity::warning,
                      .key = "collective"});
    } else if (!use.why.empty()) {
      idle.push_back({.rule = i,
                      .message = (use.changes ? "no effect on some collectives: " : "") + use.why,
                      .severity = use.changes ? Severity::warning : Severity::error,
                      .key = use.key});
    }
  }
  return idle;
}

}  // namespace weft
