// What a recording says of the step as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/core/quantity.h"

namespace weft {

// Of the rank that waited least for others: whose calls of the communication library took least, of
// several the one that took longest. What it does next is what the others wait for.
struct RecordedStep {
  Duration time;           // from the start of its first kernel to the end of its last
  Duration idle;           // of it, the GPU had no kernel ...
  Duration unlaunched;     // ... and of that, the host had not launched the next one: its call had
                           // not returned. Less what the GPU leaves between launched kernels.
  bool with_host = false;  // the host's time is part of the graph
};

// The GPU that was recorded, as the recorder calls it.
struct RecordedDevice {
  std::string name;      // empty: unknown
  std::int64_t cus = 0;  // 0: unknown
};

// What a graph does not say of the recording that it was made from.
struct RecordedRun {
  RecordedDevice device = {};
  std::optional<RecordedStep> step = {};
};

}  // namespace weft
