// Modes in which nothing could be done otherwise, or was, than in bulk.
#pragma once

#include <string>

#include "sim/report/run_report.h"

namespace weft {

// Whether this is the very run that bulk was, in another mode. `bulk` may be null.
bool is_bulk_again(const ModeRun& run, const ModeRun* bulk);

// " The same as bulk, because ...: kernel, fused.", a sentence for each reason; empty where no run
// is.
std::string same_as_bulk_text(const RunReport& report, const ModeRun& bulk);

}  // namespace weft
