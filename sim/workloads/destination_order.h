// The order in which a GPU's persistent WGs take the slices of its peers.
#pragma once

#include <vector>

#include "sim/workloads/grid.h"

namespace weft {

// Every slice of every peer once: peer, and which of its slices.
std::vector<Logical> slice_order(std::uint32_t gpus, DestinationOrder order, std::uint32_t gpu,
                                 std::uint32_t slices);

}  // namespace weft
