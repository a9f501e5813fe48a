// Collectives of a model that the library runs in a way of their own, in every mode: as
// `workload.collectives` says.
#pragma once

#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/models/model_graph.h"
#include "sim/models/pair_rules.h"

namespace weft {

using CollectiveRules = std::vector<CollectiveRule>;

// What the rule says, else as before.
CollectiveOptions options_by(const CollectiveRule& rule, CollectiveOptions options);

// As its rule says, else as those of the scenario.
CollectiveOptions options_of(const CommunicationShape& call, const CollectiveOptions& of_scenario);

// Whether it can have a rule: sends from one GPU to one other have none, as a receive that waits
// for one knows no more than its size.
bool can_be_ruled(const ModelOp& op);

// Gives each collective what its rule says.
void set_own_options(ModelGraph& graph, const CollectiveRules& rules,
                     const CollectiveOptions& of_scenario);

// Rules that no collective fits, or that change none that they fit, as errors; as warnings those
// whose collectives later rules speak of as well, and what changes only some.
std::vector<AboutRule> idle_rules(const CollectiveRules& rules, const ModelGraph& graph,
                                  const Cluster& cluster, const CollectiveOptions& of_scenario);

}  // namespace weft
