// GEMV as work-groups: y = W x, one wave per row.
#pragma once

#include "sim/workloads/grid.h"

namespace weft {

// WGs of `rows_per_wg` rows of y in float32, of which every GPU owns an equal part.
Grid gemv_grid(const GemvWork& gemv, const GpuSpec& gpu, std::uint32_t gpus,
               const KernelVersion& version);

}  // namespace weft
