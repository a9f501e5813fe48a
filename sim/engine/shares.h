// Shares: the places of a cluster divided among simulators, each with some of them, which may run
// on a core each. What one tells another crosses a link, and comes no sooner than a window allows.
#pragma once

#include "sim/engine/places.h"

namespace weft {

struct Shares {
  Places places;
  std::uint32_t count = 1;
  std::vector<std::uint32_t> of_place;

  [[nodiscard]] std::uint32_t of_node(std::uint32_t node) const {
    return of_place[places.of_node[node]];
  }
};

// At most `most`, and as many as there are places at work, with about as much to do each:
// neighbours together, since clusters number their nodes so that most links join near ones.
Shares shares_of(Places places, const Cluster& cluster, const TaskGraph& graph, std::uint32_t most);

}  // namespace weft
