#include "sim/app/memory_limit.h"

#include <fmt/format.h>

#include "sim/workloads/lower.h"

namespace weft {
namespace {

// In MiB, rounded up: a value that can be given back with --set.
std::string mebibytes_text(Bytes size) {
  constexpr std::int64_t kMebi = 1024 * 1024;
  return fmt::format("{} MiB", (size.count() + kMebi - 1) / kMebi);
}

}  // namespace

Diagnostics check_memory(const Scenario& scenario, const Cluster& cluster,
                         const std::string& file) {
  Diagnostics problems;
  for (const Mode mode : scenario.modes) {
    const Bytes estimate = estimated_memory(scenario, cluster, mode);
    if (estimate <= scenario.run.max_memory) continue;
    const std::string needed = mebibytes_text(estimate);
    Diagnostic problem;
    problem.at.file = file;
    problem.path = "run.max_memory";
    problem.message = fmt::format(
        "mode {} is estimated to need {}, but {} are allowed; if the machine has them, "
        "--set 'run.max_memory={}'",
        name_of(mode), needed, mebibytes_text(scenario.run.max_memory), needed);
    problems.add(problem);
  }
  return problems;
}

}  // namespace weft
