// The WGs that an operator would be recorded with.
#pragma once

#include <cstdint>

#include "sim/gpu_model/gpu_spec.h"
#include "sim/models/model_graph.h"

namespace weft {

// As it is lowered, on GPUs in groups of `ranks`; of ranks that differ the one with most to do.
// Without a time. Not of an operator that communicates.
RecordedShape recorded_wgs(const OpShape& shape, const GpuSpec& gpu, std::uint32_t ranks);

}  // namespace weft
