// Recorded kernels as the patterns of overlap want them: WGs by peer.
#pragma once

#include "sim/models/fusions.h"

namespace weft {

// Of a GEMM whose kernel has its tile in its name: a WG a tile, or a part of one (split k), by rows
// of tiles. Of what else the recording tells the result of: equal parts of it, at most as many as
// WGs were recorded. Else each recorded WG is taken to make an equal part of what travels.
PeerGrid recorded_peer_grid(const RecordedShape& kernel, const CommunicationShape& call,
                            const GpuSpec& gpu, std::uint32_t peers, const KernelVersion& version);

}  // namespace weft
