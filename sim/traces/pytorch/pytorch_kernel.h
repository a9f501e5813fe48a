// A recorded kernel, copy or fill as a node.
#pragma once

#include <cstdint>

#include "sim/traces/pytorch/kineto_file.h"
#include "sim/traces/pytorch/pytorch_rank.h"
#include "sim/traces/rank_trace.h"

namespace weft {

// On this lane, with nothing yet that it waits for. Of 0 us it is a PassNode. Adds to the sums.
TraceNode kernel_node(const GpuEvent& event, std::uint32_t lane, PytorchSums& sums);

}  // namespace weft
