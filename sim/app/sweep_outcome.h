// What a sweep says at its end.
#pragma once

#include <filesystem>
#include <vector>

#include "sim/sweep/row.h"

namespace weft {

// Says how many points are ok, and why the first failed ones are not; the exit code.
int tell_outcome(const std::vector<Row>& rows, const SweepInfo& info,
                 const std::filesystem::path& folder);

}  // namespace weft
