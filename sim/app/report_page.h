// The page of a folder of results, or of several runs side by side.
#pragma once

#include <filesystem>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/html/page.h"

namespace weft {

// The lines of a sweep that are there before its table is.
inline constexpr const char* kSweepRows = "results.jsonl";

// The page must not be used if there are problems.
Page report_page(const std::vector<std::filesystem::path>& folders, Diagnostics& problems);

}  // namespace weft
