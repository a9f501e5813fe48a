// A sweep's folder as a page.
#pragma once

#include <filesystem>

#include "sim/html/page.h"

namespace weft {

inline constexpr const char* kSweepFile = "sweep.json";
inline constexpr const char* kSweepResults = "results.csv";

// Not to be used where there are problems.
Page sweep_page(const std::filesystem::path& folder, Diagnostics& problems);

}  // namespace weft
