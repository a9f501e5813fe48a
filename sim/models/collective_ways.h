// In which ways a model's single collectives could be run that are in no pair, by what they take by
// themselves: what a search for the best rules of `workload.collectives` chooses from.
#pragma once

#include <string>
#include <vector>

#include "sim/models/pair_ways.h"

namespace weft {

struct TriedCollective {
  CollectiveRule rule;  // for these collectives alone
  Duration time;        // of all of them one after another, as often as a GPU has them in a step
};

// Collectives of one name, of which a rule says the same.
struct CollectiveWays {
  std::string name;
  Duration as_it_is;
  // Up to a quarter longer than the shortest, the shortest first; none within 0.1 % of a shorter
  // one, or of what they take as they are.
  std::vector<TriedCollective> ways;
};

// Algorithm, protocol and channels, each brought to its best with those before it at their best.
// Those that take longest as they are come first; without those that have no other way. `model` is
// asked after its candidates; `scenario` is its own.
std::vector<CollectiveWays> collective_ways(const ModelRun& model, const Scenario& scenario,
                                            const Cluster& cluster, const PairTrials& how);

}  // namespace weft
