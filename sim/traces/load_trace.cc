#include "sim/traces/load_trace.h"

#include "sim/traces/chakra.h"

namespace weft {

LoadedTrace load_trace(const TraceWork& work, int gpus) {
  switch (work.format) {
    case TraceFormat::chakra:
      return load_chakra(work, gpus);
    case TraceFormat::pytorch:
      break;
  }
  return {};
}

}  // namespace weft
