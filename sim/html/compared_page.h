// Several runs on one page, side by side.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/html/page.h"

namespace weft {

// The keys in which the scenarios differ: path, then the value of each run.
struct ComparedKeys {
  std::vector<std::vector<std::string>> rows;
  std::string absent;  // why there are no rows
};

// What the runs are called: their folders' names, or the whole paths where names are alike.
std::vector<std::string> names_of_runs(const std::vector<std::filesystem::path>& folders);

// The first run is what the others are compared with. The page must not be used if there are
// problems.
Page compared_page(const std::vector<std::filesystem::path>& folders, const ComparedKeys& keys,
                   Diagnostics& problems);

}  // namespace weft
