// Where the bases of a scenario are looked for.
#pragma once

#include <filesystem>
#include <vector>

namespace weft {

// The folders named `configs` above the scenario, nearest first; then those that came with weft:
// installed beside the program, else in the source tree it was built from.
std::vector<std::filesystem::path> config_dirs(const std::filesystem::path& scenario);

}  // namespace weft
