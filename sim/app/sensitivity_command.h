// `weft sensitivity`: which numbers of the machine a scenario's times depend on.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/known_options.h"

namespace weft {

struct SensitivityCommand {
  std::filesystem::path scenario;
  std::vector<std::string> sets;
  double step_percent = 5;
  std::optional<std::filesystem::path> csv;
  int jobs = 0;  // 0: as many as there are cores
  bool json = false;
  bool quiet = false;
  KnownOptions known = {};
};

// `command` is filled in when the application parses.
CLI::App* add_sensitivity(CLI::App& app, SensitivityCommand& command);

// Returns the exit code; failures of the system are exceptions.
int sensitivity_command(const SensitivityCommand& command);

}  // namespace weft
