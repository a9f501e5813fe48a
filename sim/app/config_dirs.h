// Where the bases of a scenario are looked for, and what else comes with weft.
#pragma once

#include <filesystem>
#include <vector>

namespace weft {

// The folders named `configs` above the scenario, nearest first; then those that came with weft:
// installed next to the program, or else in the source tree it was built from.
std::vector<std::filesystem::path> config_dirs(const std::filesystem::path& scenario);

// The files of a report's page, and Vega's: installed next to the program, or else where it was
// built.
std::vector<std::filesystem::path> html_dirs();
std::vector<std::filesystem::path> vega_dirs();

}  // namespace weft
