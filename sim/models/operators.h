// Operators that a scenario describes down to their WGs.
#pragma once

#include "sim/models/model_graph.h"
#include "sim/workloads/grid.h"

namespace weft {

// The operator that a workload's row computes, on no GPUs yet.
ModelOp described_op(const Workload& workload);

// Its WGs by peer. Without a version: only how many there are, without the work of each, which may
// take cache simulations to find.
Grid described_grid(const DescribedKernel& kernel, const GpuSpec& gpu, std::uint32_t peers,
                    const KernelVersion* version);

}  // namespace weft
