// Slurm's commands, as far as sweeps need them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft::slurm {

struct ArrayJob {
  std::string name;                  // how it is found again
  std::filesystem::path script;      // what each task runs
  std::filesystem::path log;         // folder for what tasks print
  std::size_t at_once = 1;           // tasks
  int cores = 1;                     // of a task
  std::string partition;             // empty: the default one
  std::vector<std::string> options;  // of sbatch, as they are
};

// Submits these tasks. If Slurm refuses, its message is thrown as an exception.
void submit(const ArrayJob& job, const std::vector<std::size_t>& tasks);

// Those that wait or run, with their state (PENDING, RUNNING ...). Nothing: Slurm does not respond,
// so it is not known.
std::optional<std::map<std::size_t, std::string>> tasks_in_queue(const std::string& name);

// "1-3,7"
std::string ranges_text(const std::vector<std::size_t>& ascending);

}  // namespace weft::slurm
