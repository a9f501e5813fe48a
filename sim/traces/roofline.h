// The least time of an operator: its operations at the peak, or its bytes at the HBM's bandwidth.
#pragma once

#include "sim/gpu_model/gpu_spec.h"
#include "sim/models/model_graph.h"

namespace weft {

// Operands are read and results written once. An embedding reads as many rows as it pools.
Bytes bytes_moved(const OpShape& shape);

// For operators that compute. A recorded kernel takes its recorded time.
Duration roofline_time(const OpShape& shape, const GpuSpec& gpu);

}  // namespace weft
