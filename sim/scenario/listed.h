// What a scenario can name: files of the configs, and words of some keys (`weft list`).
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "sim/scenario/list_lines.h"

namespace weft {

// What can be listed: `word`, and as `title` what it is for.
std::vector<ListLine> listed_things();

struct Listed {
  std::filesystem::path folder;  // of the configs; empty: words of a key
  std::vector<ListLine> lines;
};
// Every folder of the configs that has some; what an earlier one hides is left out. Nothing for a
// word that is none of listed_things().
std::vector<Listed> listed(std::string_view what,
                           const std::vector<std::filesystem::path>& config_dirs);

}  // namespace weft
