// `weft cache`: applications of the cache model (docs/cache.md) under its policies.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct CacheCommand {
  // Files, or names of files in configs/cache/applications; empty: all of these.
  std::vector<std::string> applications;
  std::string machine;                // a file, or a name of one in configs/cache/machines
  std::vector<std::string> policies;  // empty: all
  std::optional<std::filesystem::path> output;
  std::optional<std::filesystem::path> json;
  std::optional<std::filesystem::path> csv;
  int jobs = 0;  // 0: as many as there are cores
  bool quiet = false;
};

// Returns the exit code; failures of the system are exceptions.
int cache_command(const CacheCommand& command);

}  // namespace weft
