// The order in which a GPU's persistent WGs take the slices of its peers.
#pragma once

#include <span>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/workloads/grid.h"

namespace weft {

// Every slice of every rank once: the rank, and the slice's index. `node_of`: the node of each
// rank. docs/model.md, "The three modes", describes the orders. If all ranks advance in step, no
// two send to the same rank at a time, except with `given` or if nodes hold unequal numbers.
std::vector<Logical> slice_order(std::span<const std::uint32_t> node_of, DestinationOrder order,
                                 std::uint32_t rank, std::uint32_t slices);

}  // namespace weft
