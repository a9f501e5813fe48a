// What differs between the scenarios of runs, by the files in their folders.
#pragma once

#include <filesystem>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/html/compared_page.h"

namespace weft {

ComparedKeys compared_keys(const std::vector<std::filesystem::path>& folders,
                           Diagnostics& problems);

}  // namespace weft
