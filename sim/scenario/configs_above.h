// The configs that a scenario belongs to by where it stands.
#pragma once

#include <filesystem>
#include <vector>

namespace weft {

// The folders named `configs` above the scenario, nearest first.
std::vector<std::filesystem::path> configs_above(const std::filesystem::path& scenario);

}  // namespace weft
