// GEMV as work-groups: y = W x, one wave per row.
#pragma once

#include "sim/workloads/grid.h"

namespace weft {

// WGs make `rows_per_wg` rows of y each, in float32; every GPU owns an equal part of y.
Grid gemv_grid(const GemvWork& gemv, const GpuSpec& gpu, std::uint32_t gpus,
               const KernelVersion& version);

}  // namespace weft
