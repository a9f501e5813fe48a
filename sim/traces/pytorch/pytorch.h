// PyTorch: Kineto profiles of all ranks, and execution traces if the profiles lack the sizes.
#pragma once

#include "sim/traces/load_trace.h"

namespace weft {

LoadedTrace load_pytorch(const TraceWork& work, int gpus, Bytes memory = kTraceMemory);

}  // namespace weft
