// The share of a GPU's peaks that recorded kernels reached: it tells whether their shapes, their
// times and the GPU belong together.
#pragma once

#include <string>

#include "sim/gpu_model/gpu_spec.h"
#include "sim/models/model_graph.h"

namespace weft {

// One line for each kind of work, and one for kernels whose share cannot be right or is far from
// any library's. Empty if no kernel says what it computes.
std::string peak_shares_text(const ModelGraph& graph, const GpuSpec& gpu);

}  // namespace weft
