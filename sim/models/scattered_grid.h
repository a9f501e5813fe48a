// Experts' products whose rows come from the GPUs that have the tokens, as many as each sends, or
// go home to them.
#pragma once

#include "sim/models/fusions.h"

namespace weft {

// The kernel's tiles by rank, with the rows of each peer in each row of tiles. `version` is null
// where only their number matters.
PeerGrid scattered_grid(const GemmShape& gemm, const PeerCall& call, const GpuSpec& gpu,
                        const KernelVersion* version);

}  // namespace weft
