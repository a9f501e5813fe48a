// Where operators are when they are tried by themselves.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/models/model_graph.h"

namespace weft {

// Only the groups of the first node, if each group is within a node: others share nothing with
// them.
Groups groups_alone(const Groups& place, const Cluster& cluster);

// Whether the groups of both span nodes in the same way, whichever nodes these are.
bool lie_alike(const Groups& a, const Groups& b, const Cluster& cluster);

// Whether all its groups are on the first node.
bool is_on_first_node(const Groups& place, const Cluster& cluster);

}  // namespace weft
