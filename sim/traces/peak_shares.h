// What share of a GPU's peaks recorded kernels reached: whether their shapes and times, and the
// GPU, belong together.
#pragma once

#include <string>

#include "sim/gpu_model/gpu_spec.h"
#include "sim/models/model_graph.h"

namespace weft {

// A line for each kind of work, and one for what cannot be right or is far from any library's.
// Empty where no kernel says what it computes.
std::string peak_shares_text(const ModelGraph& graph, const GpuSpec& gpu);

}  // namespace weft
