// `weft merge`: from the shards of one sweep to its complete results.
#pragma once

#include <filesystem>
#include <vector>

namespace weft {

struct MergeCommand {
  std::vector<std::filesystem::path> folders;
  std::filesystem::path output;
};

// Returns the exit code; failures of the system are exceptions.
int merge_command(const MergeCommand& command);

}  // namespace weft
