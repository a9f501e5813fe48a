// `weft sweep`: every point of a sweep file, here or on Slurm.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/known_options.h"
#include "sim/sweep/sweep_options.h"

namespace weft {

enum class Launcher { local, slurm };

struct SweepCommand {
  std::filesystem::path file;
  std::vector<std::string> sets;
  std::optional<std::filesystem::path> output;  // else results/<name of the sweep>
  int jobs = 0;                                 // 0: as many as there are cores
  Shard shard;
  Launcher launcher = Launcher::local;
  std::vector<std::size_t> only = {};  // points of the file, from 1; none: all
  SlurmOptions slurm;
  bool detach = false;                          // Slurm: submits without waiting
  std::optional<std::filesystem::path> status;  // only says how far this folder's sweep is
  bool dry_run = false;
  bool retry = false;  // points that failed are run again
  bool quiet = false;
  KnownOptions known = {};
};

// What comes before the file in a command that gives the same results: "weft sweep --only 3,17".
std::string text_of_sweep(const SweepCommand& command);

// Returns the exit code; failures of the system are exceptions.
int sweep_command(const SweepCommand& command);

}  // namespace weft
