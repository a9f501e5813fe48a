// What a speedup is measured against: mode bulk with these kernels and collectives.
#pragma once

#include <string>

#include "sim/report/run_report.h"

namespace weft {

// The fastest of the modes that overlap whole kernels or nothing. Null unless one that overlaps was
// run.
const ModeRun* best_unfused(const RunReport& report);

// The fastest of the modes that fuse. Null if none was run.
const ModeRun* best_fused(const RunReport& report);

// "kernels/lookups_pytorch; all_to_all (direct, simple)": the presets of kernels that the scenario
// names, "the scenario's own lookups" where it looks up rows without one, and how bulk's
// collectives are done. Empty where nothing is known.
std::string baseline_text(const RunReport& report, const RunResult& bulk);

}  // namespace weft
