// What an operator takes at least: its operations at the peak, or its bytes at the memory's rate.
#pragma once

#include "sim/gpu_model/gpu_spec.h"
#include "sim/models/model_graph.h"

namespace weft {

// Operands read and results written once. Rows of an embedding are as many as are pooled.
Bytes bytes_moved(const OpShape& shape);

// Of operators that compute. A recorded kernel takes what it took.
Duration roofline_time(const OpShape& shape, const GpuSpec& gpu);

}  // namespace weft
