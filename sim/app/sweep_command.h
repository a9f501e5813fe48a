// `weft sweep`: every point of a sweep file, in parallel; nothing that is finished is lost.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weft {

// Every n-th point, from the first on: shard 1/4 has the first, the fifth ...
struct Shard {
  std::size_t index = 1;  // from 1
  std::size_t count = 1;
};

enum class Launcher { local, slurm };

struct SlurmOptions {
  std::string partition;             // empty: the default one
  int max_jobs = 16;                 // tasks that run at once
  int points_per_job = 0;            // 0: as many tasks as may run at once
  std::vector<std::string> options;  // of sbatch
  bool detach = false;
};

struct SweepCommand {
  std::filesystem::path file;
  std::vector<std::string> sets;
  std::optional<std::filesystem::path> output;  // else results/<name of the sweep>
  int jobs = 0;                                 // 0: as many as there are cores
  Shard shard;
  Launcher launcher = Launcher::local;
  SlurmOptions slurm;
  std::optional<std::filesystem::path> status;  // only says how far this folder's sweep is
  bool dry_run = false;
  bool retry = false;  // points that failed are run again
  bool quiet = false;
};

// Returns the exit code; failures of the system are exceptions.
int sweep_command(const SweepCommand& command);

}  // namespace weft
