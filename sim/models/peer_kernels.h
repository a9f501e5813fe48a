// The kernels of mode pipelined that the pair's grid does not describe.
#pragma once

#include "sim/models/model_graph.h"
#include "sim/workloads/grid.h"

namespace weft {

PeerKernels peer_kernels(const ModelOp& op, const CommunicationShape& call, const GpuSpec& gpu,
                         std::uint32_t peers);

}  // namespace weft
