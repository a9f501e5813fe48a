// The table of readers, one per format.
#include "sim/traces/load_trace.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "sim/core/assert.h"
#include "sim/traces/found_blocks.h"

namespace weft {

// Each in a folder of its own.
namespace readers {
LoadedTrace chakra(const TraceWork& work, int gpus, Bytes memory);
LoadedTrace pytorch(const TraceWork& work, int gpus, Bytes memory);
LoadedTrace nsys(const TraceWork& work, int gpus, Bytes memory);
LoadedTrace rocprof(const TraceWork& work, int gpus, Bytes memory);
LoadedTrace graph(const TraceWork& work, int gpus, Bytes memory);
}  // namespace readers

namespace {

struct ReaderRow {
  WorkloadKind format;
  LoadedTrace (*load)(const TraceWork& work, int gpus, Bytes memory);
};

constexpr std::array kReaders = {
    ReaderRow{WorkloadKind::chakra, readers::chakra},
    ReaderRow{WorkloadKind::pytorch, readers::pytorch},
    ReaderRow{WorkloadKind::nsys, readers::nsys},
    ReaderRow{WorkloadKind::rocprof, readers::rocprof},
    ReaderRow{WorkloadKind::graph, readers::graph},
};

}  // namespace

LoadedTrace load_trace(const TraceWork& work, int gpus, Bytes memory) {
  const auto* const row =
      std::find_if(kReaders.begin(), kReaders.end(),
                   [&](const ReaderRow& other) { return other.format == work.format; });
  SIM_ASSERT(row != kReaders.end());
  LoadedTrace loaded = row->load(work, gpus, memory);
  if (loaded.graph && !work.find_blocks) {
    std::string note = without_blocks(*loaded.graph);
    if (!note.empty()) loaded.summary.notes.push_back(std::move(note));
  }
  return loaded;
}

}  // namespace weft
