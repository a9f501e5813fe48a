// The table of readers, one per format.
#include "sim/traces/load_trace.h"

#include <algorithm>
#include <array>

#include "sim/core/assert.h"
#include "sim/traces/chakra/chakra.h"
#include "sim/traces/pytorch/pytorch.h"

namespace weft {
namespace {

struct ReaderRow {
  WorkloadKind format;
  LoadedTrace (*load)(const TraceWork& work, int gpus, Bytes memory);
};

constexpr std::array kReaders = {
    ReaderRow{WorkloadKind::chakra, load_chakra},
    ReaderRow{WorkloadKind::pytorch, load_pytorch},
};

}  // namespace

LoadedTrace load_trace(const TraceWork& work, int gpus, Bytes memory) {
  const auto* const row =
      std::find_if(kReaders.begin(), kReaders.end(),
                   [&](const ReaderRow& other) { return other.format == work.format; });
  SIM_ASSERT(row != kReaders.end());
  return row->load(work, gpus, memory);
}

}  // namespace weft
