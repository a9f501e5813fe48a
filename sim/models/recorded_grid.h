// Recorded kernels in the form that the overlap patterns need: WGs by peer.
#pragma once

#include "sim/models/fusions.h"

namespace weft {

// For a GEMM whose kernel's name gives its tile: one WG per tile, or per part of one (split k), by
// rows of tiles; where these do not divide, by the next smaller ones that do. For other kernels
// whose result the recording gives: equal parts of it, at most as many as WGs were recorded.
// Otherwise each recorded WG is assumed to make an equal part of what travels. Beside an uneven
// all-to-all: uneven_recorded_grid().
PeerGrid recorded_peer_grid(const RecordedShape& kernel, const PeerCall& with, const GpuSpec& gpu,
                            const KernelVersion& version);

// What a WG needs when it is fused: one with all registers of its CU would be compiled to leave
// some for the communication.
WgShape recorded_wg_fused(const RecordedShape& kernel, const GpuSpec& gpu,
                          const KernelVersion& version);

}  // namespace weft
