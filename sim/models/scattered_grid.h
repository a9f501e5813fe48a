// Experts' products whose rows go home to the GPUs that sent the tokens, as many as came from each.
#pragma once

#include "sim/models/fusions.h"

namespace weft {

// The kernel's tiles by rank, with the rows of each peer in each row of tiles. `version` is null
// where only their number matters.
PeerGrid scattered_grid(const GemmShape& gemm, const CommunicationShape& call, const GpuSpec& gpu,
                        std::uint32_t peers, const KernelVersion* version);

}  // namespace weft
