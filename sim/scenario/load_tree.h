// From a tree whose bases are not yet resolved to a checked Scenario: what files, texts and the
// points of a sweep have in common.
#pragma once

#include <filesystem>
#include <vector>

#include "sim/scenario/load.h"

namespace weft {

// Where the names of bases start from.
struct BasesFrom {
  std::filesystem::path file;
  const std::vector<std::filesystem::path>& config_dirs;
};

// `found` are the problems so far.
Loaded load_tree(SourceFiles& files, Node root, const BasesFrom& from, Diagnostics found);

}  // namespace weft
