// A run's folder as a page.
#pragma once

#include <filesystem>

#include "sim/html/page.h"

namespace weft {

// The page must not be used if there are problems.
Page run_page(const std::filesystem::path& folder, Diagnostics& problems);

// "A. B." as its sentences.
std::vector<std::string> sentences_of(const std::string& text);

}  // namespace weft
