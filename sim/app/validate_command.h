// `weft validate`: measured lines compared with simulations of the same cases.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/known_options.h"

namespace weft {

struct ValidateCommand {
  std::filesystem::path measured;
  std::filesystem::path cluster;
  std::filesystem::path kernels;  // folder of their scenarios; empty: of the configs
  std::vector<std::string> sets;  // PATH=VALUE, in every case
  std::optional<std::filesystem::path> json;
  std::optional<std::filesystem::path> csv;
  // For all times together, in per cent; exit code 1 if it is exceeded.
  std::optional<double> max_median;
  std::optional<double> max_p90;
  int jobs = 0;  // 0: as many as there are cores
  bool quiet = false;
  KnownOptions known = {};
};

// Returns the exit code; failures of the system are exceptions.
int validate_command(const ValidateCommand& command);

}  // namespace weft
