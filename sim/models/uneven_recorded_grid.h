// Recorded kernels beside an uneven all-to-all in the form that fused kernels need.
#pragma once

#include "sim/models/fusions.h"

namespace weft {

// Each rank's tiles or parts, with what each of them has for, or needs from, each peer. For a GEMM
// whose kernel's name gives its tile, rows of tiles, of the rank with the most rows; otherwise as
// many equal parts of what the rank sends as WGs were recorded.
PeerGrid uneven_recorded_grid(const RecordedShape& kernel, const PeerCall& call, const GpuSpec& gpu,
                              const KernelVersion& version);

}  // namespace weft
