// The order in which a GPU's persistent WGs take the slices of its peers.
#pragma once

#include <span>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/workloads/grid.h"

namespace weft {

// Every slice of every rank once: whose, and which of its slices. `node_of` says on which node each
// rank is; docs/model.md, "The three modes", says what the orders are. If all ranks go on in step,
// no two send to one rank at one time, but for `given`, and where nodes hold unequally many.
std::vector<Logical> slice_order(std::span<const std::uint32_t> node_of, DestinationOrder order,
                                 std::uint32_t rank, std::uint32_t slices);

}  // namespace weft
