// Between what a mode's measured time would be, and its speed-ups, where
// run.range asks for it and the GPU's file says how far its laws are off.
#pragma once

#include <optional>
#include <string>

#include "sim/report/mode_fields.h"
#include "sim/report/time_range.h"

namespace weft {

// One end of the range, such as &TimeRange::low_us; none: not asked for, or not known.
std::optional<double> range_end(const ModeView& mode, double TimeRange::*end);
// None of the baseline itself, nor without it.
std::optional<double> speedup_end(const ModeView& mode, double SpeedupRange::*end);
// Of a fused mode over the best without fusing that was predicted; none where only bulk was run.
std::optional<double> unfused_end(const ModeView& mode, double SpeedupRange::*end);

// "1.9 ms to 3.3 ms", "1.05x to 1.21x", or "-".
std::string range_text(const ModeView& mode);
std::string speedup_range_text(const ModeView& mode);
std::string unfused_range_text(const ModeView& mode);

}  // namespace weft
