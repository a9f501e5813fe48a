// The knobs of a rule for pairs that not every pair has: the tile of its product; algorithm,
// protocol and channels of its collective; its own input first; when its WGs add up.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/models/pair_rules.h"

namespace weft {

inline constexpr std::array kKnobsOfSome = {"tile_m",   "algorithm", "protocol",
                                            "channels", "own_first", "add"};

struct IdleKnob {
  std::string key;  // of kKnobsOfSome
  std::string why;  // it changes nothing of the pair, as the rest of a sentence
};

// Those of the rule that change nothing of this pair, which its mode has to suit.
std::vector<IdleKnob> idle_knobs_of(const ModelGraph& graph, const Fusion& fusion,
                                    const Cluster& cluster, const OverlapOptions& of_scenario,
                                    const PairRule& rule);

// Why this collective, called in these groups, has no such algorithm, as the rest of a sentence;
// empty where it has.
std::string why_no_algorithm(const AskedAlgorithm& asked, const Cluster& cluster,
                             const CommunicationShape& shape, const Groups& place);

// Why nothing that a rule says of the library's collective changes this one.
std::string why_not_by_library(const CommunicationShape& shape, CollectiveExecutor executor);

// The computing operator of the pair with the tile of the way, where its kernel can have it; else
// as the library chooses.
ModelOp with_tile(ModelOp op, const PeerCall& call, const GpuSpec& gpu, const PairWay& way);

}  // namespace weft
