// What a sweep says.
#pragma once

#include <filesystem>
#include <vector>

#include "sim/sweep/observer.h"
#include "sim/sweep/row.h"

namespace weft {

// What it says on its way, as the command's messages.
SweepMessages messages_of_sweep();

// Says how many points are ok, and why the first failed ones are not; the exit code.
int tell_outcome(const std::vector<Row>& rows, const std::vector<AxisColumn>& axes,
                 const std::filesystem::path& folder);

}  // namespace weft
