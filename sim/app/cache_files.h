// The files of configs/cache, by their names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/core/diagnostics.h"

namespace weft {

// What a word of the command line stands for: a file if it has a folder or an extension, else the
// file of this name in cache/FOLDER of the configs, which may precede it as in a base. A word
// that is neither is a problem.
std::filesystem::path cache_file(const std::string& word, const char* folder,
                                 Diagnostics& problems);

// All available names.
std::vector<std::string> cache_names(const char* folder);

}  // namespace weft
