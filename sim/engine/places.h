// Places: what of a cluster can be simulated by itself for a while, because all that comes from
// elsewhere takes its time over a link.
//
// A place is a node, or a switch between nodes. Nodes whose kernels or latches depend on one
// another without a delay, and parts that a link without latency joins, are one place.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/transport.h"
#include "sim/tasks/task_graph.h"

namespace weft {

struct Places {
  std::uint32_t count = 0;
  std::vector<std::uint32_t> of_node;
  std::vector<std::uint32_t> of_link;    // by link: the one at its end, where its messages arrive
  std::vector<std::uint32_t> from_link;  // the one at its beginning
  Duration lookahead;                    // the shortest time from any place to another
};

Places places_of(const Cluster& cluster, const TaskGraph& graph, const Transport& transport);

}  // namespace weft
