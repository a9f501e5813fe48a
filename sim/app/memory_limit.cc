#include "sim/app/memory_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/scenario/modes.h"

namespace weft {
namespace {

// In MiB, rounded up: a value that can be given back with --set.
std::string mebibytes_text(Bytes size) {
  constexpr std::int64_t kMebi = 1024 * 1024;
  return fmt::format("{} MiB", (size.count() + kMebi - 1) / kMebi);
}

}  // namespace

Diagnostics check_memory(const Scenario& scenario, const std::string& file,
                         const std::function<Needs(Mode)>& needs_of) {
  Diagnostics problems;
  const auto add = [&](const char* path, std::string message) {
    Diagnostic problem;
    problem.at.file = file;
    problem.path = path;
    problem.message = std::move(message);
    problems.add(problem);
  };
  for (const Mode mode : scenario.modes) {
    const Needs needs = needs_of(mode);
    constexpr double kMost = 1U << 31U;  // of either: their numbers have 32 bits
    if (const double count = std::max(needs.items, needs.sends); count >= kMost) {
      add("workload", fmt::format("mode {} is estimated to make {:.3g} pieces of work and messages,"
                                  " which is 2^31 or more; take larger chunks, fewer channels or"
                                  " fewer bytes",
                                  name_of(mode), count));
      continue;
    }
    if (needs.memory <= scenario.run.max_memory) continue;
    const std::string needed = mebibytes_text(needs.memory);
    add("run.max_memory",
        fmt::format("mode {} is estimated to need {}, but {} are allowed; if the machine has them, "
                    "--set 'run.max_memory={}'",
                    name_of(mode), needed, mebibytes_text(scenario.run.max_memory), needed));
  }
  return problems;
}

}  // namespace weft
