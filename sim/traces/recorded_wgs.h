// The WGs that an operator would be recorded with.
#pragma once

#include <cstdint>

#include "sim/gpu_model/gpu_spec.h"
#include "sim/models/model_graph.h"

namespace weft {

// As the operator is lowered on GPUs in groups of `ranks`; if ranks differ, for the one with most
// work. Without a time. Only for operators that compute.
RecordedShape recorded_wgs(const OpShape& shape, const GpuSpec& gpu, std::uint32_t ranks);

}  // namespace weft
