// The files that every page is made with: the page's own and Vega's.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/html/read_file.h"

namespace weft {

struct Assets {
  std::string css;
  std::string modules;                     // JavaScript that lets the modules find one another
  std::string page;                        // JavaScript that draws
  std::string licences;                    // of the modules
  std::map<std::string, JsonValue> kinds;  // of charts: Vega's specifications
  std::vector<std::pair<std::string, std::string>> libraries;  // name of a module, its text
};

struct AssetDirs {
  std::vector<std::filesystem::path> page;  // the first that exists is used
  std::vector<std::filesystem::path> vega;
};
Assets load_assets(const AssetDirs& dirs, Diagnostics& problems);

}  // namespace weft
