// Experts' products whose rows come from the GPUs that have the tokens, as many as each sends, or
// go home to them.
#pragma once

#include "sim/models/fusions.h"

namespace weft {

// The kernel's tiles by rank, with the rows of each peer in each row of tiles. `version` is null
// where only their number matters.
PeerGrid scattered_grid(const GemmShape& gemm, const PeerCall& call, const GpuSpec& gpu,
                        const KernelVersion* version);

// Appends the rows of tiles of one expert, whose tokens are sorted by peer, in this order.
void add_tiles(std::vector<ScatteredTiles::Row>& tiles, ScatteredTiles::Row rows,
               std::int64_t tile_m, const std::vector<std::uint32_t>& order);

}  // namespace weft
