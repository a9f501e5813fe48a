#include "sim/traces/load_trace.h"

#include "sim/traces/chakra/chakra.h"
#include "sim/traces/pytorch/pytorch.h"

namespace weft {

LoadedTrace load_trace(const TraceWork& work, int gpus, Bytes memory) {
  switch (work.format) {
    case TraceFormat::chakra:
      return load_chakra(work, gpus, memory);
    case TraceFormat::pytorch:
      return load_pytorch(work, gpus, memory);
  }
  return {};
}

}  // namespace weft
