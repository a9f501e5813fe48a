// Files being written: NAME.HOST.PID.partial, next to NAME.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace weft {

// For this process; `number` tells apart several of one name.
std::filesystem::path partial_name(const std::filesystem::path& file, int number);

// Those in a folder whose process is dead. Of another machine that writes to the same folder
// nothing is known: its processes may live.
struct DeadPartial {
  std::filesystem::path file;
  std::string name;  // of the file that it was to become
};
std::vector<DeadPartial> dead_partials(const std::filesystem::path& folder);

}  // namespace weft
