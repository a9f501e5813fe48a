// `weft tune`: the best point of a sweep file, or of what a scenario suggests, with few
// simulations.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/known_options.h"
#include "sim/app/sweep_command.h"
#include "sim/tune/objective.h"

namespace weft {

struct TuneCommand {
  std::filesystem::path file;
  std::vector<std::string> sets;
  std::optional<std::filesystem::path> output;  // else results/<name of the sweep>_tuned
  Objectives objectives = {};                   // none: the shortest time
  bool pairs = false;       // of a scenario, the ways of single pairs instead of its other knobs
  bool then_pairs = false;  // first its other knobs, then the pairs of the best
  std::size_t points = 200;
  std::optional<double> minutes = {};  // of all searches; none: as long as they take
  double tie_percent = 3;
  Launcher launcher = Launcher::local;
  SlurmOptions slurm = {};
  int jobs = 0;  // 0: as many as there are cores
  bool quiet = false;
  bool json = false;
  KnownOptions known = {};
};

// Returns the exit code; failures of the system are exceptions.
int tune_command(const TuneCommand& command);

}  // namespace weft
