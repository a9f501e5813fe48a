// The timeline of a run for ui.perfetto.dev, which docs/timeline.md explains.
#pragma once

#include <string>
#include <vector>

#include "sim/report/run_report.h"

namespace weft {

struct TimelineOptions {
  Detail detail = Detail::kernels;
  Bytes limit = bytes(100'000'000);  // of the text, before it is compressed
};

// What to record for it, in each of this many modes.
RecordOptions record_options(const TimelineOptions& options, std::size_t modes);

struct Timeline {
  std::string json;
  std::vector<std::string> left_out;  // "fused: WGs and messages from 123.456 us on"
};

// Of all recorded modes.
Timeline timeline(const RunReport& report, const TimelineOptions& options);

}  // namespace weft
