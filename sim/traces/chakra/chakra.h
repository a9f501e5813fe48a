// Chakra execution traces: loads the files of all ranks into one ModelGraph.
#pragma once

#include "sim/traces/load_trace.h"

namespace weft {

LoadedTrace load_chakra(const TraceWork& work, int gpus, Bytes memory = kTraceMemory);

}  // namespace weft
