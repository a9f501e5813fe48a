// How a sweep is run, whoever asks for it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace weft {

class KnownRuns;  // sim/engine/known_runs.h

// Every n-th point, from the first on: shard 1/4 has the first, the fifth ...
struct Shard {
  std::size_t index = 1;  // from 1
  std::size_t count = 1;
};

struct SweepOptions {
  std::filesystem::path folder;   // for the results
  std::vector<std::string> sets;  // those that the plan was loaded with
  Shard shard = {};
  int jobs = 1;                        // points that run at once; on Slurm: in each task
  bool retry = false;                  // points that failed are run again
  std::string command = "weft sweep";  // what comes before the file, to give the same results
  KnownRuns* known = nullptr;          // what points have simulated; has to outlive the sweep
};

struct SlurmOptions {
  std::string partition = {};             // empty: the default one
  int max_jobs = 16;                      // tasks that run at once
  int points_per_job = 0;                 // 0: as many tasks as may run at once
  std::vector<std::string> options = {};  // of sbatch
  std::vector<std::string> known = {};    // options of `weft sweep` that say where tasks keep that
  std::vector<std::size_t> only = {};     // of the file's points, from 1; empty: all
};

}  // namespace weft
