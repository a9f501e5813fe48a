// How mode mixed overlaps a model's pairs of operator and collective: as `workload.pairs` says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/models/fusions.h"
#include "sim/models/pieces.h"

namespace weft {

using PairRules = std::vector<PairRule>;

// Bit i: rule i speaks of some layers only, of which this is one. `layer`: -1: of no layer. The
// same for all layers where no rule speaks of layers, so that layers that are alike stay alike.
std::uint64_t rules_of_layer(const PairRules& rules, int layer);

// The rule that counts for the pair of this name ("mlp_down + mlp_down_reduce"); null: none does.
const PairRule* rule_of(const PairRules& rules, const std::string& name, WorkloadKind pattern,
                        std::uint64_t of_layer);

// A pair's own way of being overlapped.
struct PairWay {
  Mode mode = Mode::bulk;
  OverlapOptions options;
  GemmTile tile = {};         // of the library's GEMM; 0: as it chooses
  bool changes_bulk = false;  // what its operators and collectives do where not overlapped
  [[nodiscard]] bool is_plain_bulk() const { return mode == Mode::bulk && !changes_bulk; }
};
PairWay way_by(const PairRule& rule, OverlapOptions of_scenario);

// "mlp_down + mlp_down_reduce".
std::string name_of(const ModelGraph& graph, const Fusion& fusion);

struct AboutRule {
  std::size_t rule = 0;
  std::string message;
  Severity severity = Severity::error;
  std::string key = "pair";  // of the rule
};
// Rules that nothing fits, or nothing that can be run so; warnings of those whose pairs later rules
// speak of as well.
std::vector<AboutRule> idle_rules(const PairRules& rules, const std::vector<Piece>& pieces,
                                  const Cluster& cluster);

// Slices that a pair gets instead of those of its rule, which do not divide what it has for a peer;
// the first such pair of each rule.
std::vector<AboutRule> fitted_slices(const PairRules& rules, const std::vector<Piece>& pieces,
                                     const Cluster& cluster, const OverlapOptions& of_scenario);

// Knobs of rules (pair_knobs.h) that some of the pairs for which the rule counts do not have, each
// with the first such pair, as warnings; as errors where none of them has it.
std::vector<AboutRule> idle_knobs(const PairRules& rules, const std::vector<Piece>& pieces,
                                  const Cluster& cluster, const OverlapOptions& of_scenario);

}  // namespace weft
