// `weft validate`: measured lines against the simulation of the same cases.
#pragma once

#include <filesystem>
#include <optional>

namespace weft {

struct ValidateCommand {
  std::filesystem::path measured;
  std::filesystem::path cluster;
  std::filesystem::path kernels;  // folder of their scenarios; empty: of the configs
  std::optional<std::filesystem::path> json;
  std::optional<std::filesystem::path> csv;
  // Of all times together, in per cent; exit code 1 where it is exceeded.
  std::optional<double> max_median;
  std::optional<double> max_p90;
  int jobs = 0;  // 0: as many as there are cores
  bool quiet = false;
};

// Returns the exit code; what the machine cannot do is an exception.
int validate_command(const ValidateCommand& command);

}  // namespace weft
