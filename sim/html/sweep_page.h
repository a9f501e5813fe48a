// A sweep's folder as a page.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/html/page.h"

namespace weft {

inline constexpr const char* kSweepFile = "sweep.json";
inline constexpr const char* kSweepResults = "results.csv";

// The page must not be used if there are problems. `results`: what results.csv would hold by now,
// of a sweep that is running or was stopped; without it that file is read.
Page sweep_page(const std::filesystem::path& folder, const std::optional<std::string>& results,
                Diagnostics& problems);

}  // namespace weft
