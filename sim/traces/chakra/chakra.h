// Chakra execution traces: files of all ranks to one ModelGraph.
#pragma once

#include "sim/traces/load_trace.h"

namespace weft {

LoadedTrace load_chakra(const TraceWork& work, int gpus, Bytes memory = kTraceMemory);

}  // namespace weft
