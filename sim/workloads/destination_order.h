// The order in which a GPU's persistent WGs take the slices of its peers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/scenario/scenario.h"
#include "sim/workloads/grid.h"

namespace weft {

// The ranks that a GPU's results go to, itself among them.
struct Destinations {
  std::vector<std::uint32_t> node_of;  // by rank
  bool own_links = false;              // every pair of a node has a link of its own
};

Destinations destinations(const Cluster& cluster, std::span<const std::uint32_t> gpus);

// Every slice of every rank once: the rank, and the slice's index. docs/model.md, "The modes",
// describes the orders. If all ranks advance in step, no two send to the same rank at a time,
// except with `given` or if nodes hold unequal numbers. `at_once`: slices that WGs make at a time,
// for `rotating`.
std::vector<Logical> slice_order(const Destinations& to, DestinationOrder order, std::uint32_t rank,
                                 std::uint32_t slices, std::uint32_t at_once = 1);

}  // namespace weft
