// `weft merge`: shards of one sweep to its whole results.
#pragma once

#include <filesystem>
#include <vector>

namespace weft {

struct MergeCommand {
  std::vector<std::filesystem::path> folders;
  std::filesystem::path output;
};

// Returns the exit code; what the machine cannot do is an exception.
int merge_command(const MergeCommand& command);

}  // namespace weft
