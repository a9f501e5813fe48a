// The timeline of a run for ui.perfetto.dev: docs/timeline.md says what is to be seen in it.
#pragma once

#include <string>
#include <vector>

#include "sim/report/run_report.h"

namespace weft {

struct TimelineOptions {
  Detail detail = Detail::kernels;
  Bytes limit = bytes(100'000'000);  // of the text, before it is compressed
};

// What to record for it, of each of so many modes.
RecordOptions record_options(const TimelineOptions& options, std::size_t modes);

struct Timeline {
  std::string json;
  std::vector<std::string> left_out;  // "fused: WGs and messages from 123.456 us on"
};

// Of all modes that were recorded.
Timeline timeline(const RunReport& report, const TimelineOptions& options);

}  // namespace weft
