#include "sim/run/memory_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/report/timeline_memory.h"
#include "sim/scenario/modes.h"

namespace weft {
namespace {

// In MiB, rounded up: a value that can be given back with --set.
std::string mebibytes_text(Bytes size) {
  constexpr std::int64_t kMebi = 1024 * 1024;
  return fmt::format("{} MiB", (size.count() + kMebi - 1) / kMebi);
}

Diagnostic problem_at(const std::string& file, const char* path, std::string message) {
  Diagnostic problem;
  problem.at.file = file;
  problem.path = path;
  problem.message = std::move(message);
  return problem;
}

}  // namespace

Diagnostics check_memory(const Scenario& scenario, const std::string& file,
                         const std::function<Needs(Mode)>& needs_of) {
  Diagnostics problems;
  const auto add = [&](const char* path, std::string message) {
    problems.add(problem_at(file, path, std::move(message)));
  };
  for (const Mode mode : scenario.modes) {
    const Needs needs = needs_of(mode);
    constexpr double kMost = 1U << 31U;  // of either: their numbers have 32 bits
    if (const double count = std::max(needs.items, needs.sends); count >= kMost) {
      add("workload",
          fmt::format("mode {} is estimated to create {:.3g} pieces of work and messages,"
                      " which is 2^31 or more; use larger chunks, fewer channels or"
                      " fewer bytes",
                      name_of(mode), count));
      continue;
    }
    if (needs.memory <= scenario.run.max_memory) continue;
    const std::string needed = mebibytes_text(needs.memory);
    add("run.max_memory",
        fmt::format(
            "mode {} is estimated to need {}, but only {} is allowed; if the machine has more, "
            "--set 'run.max_memory={}'",
            name_of(mode), needed, mebibytes_text(scenario.run.max_memory), needed));
  }
  return problems;
}

std::optional<Bytes> room_for_timeline(const Scenario& scenario, const std::string& file, Bytes run,
                                       Bytes tracks, Diagnostics& problems) {
  constexpr Bytes kLeast = bytes(4'000'000);  // a short timeline is better than none
  const Bytes all = scenario.run.max_memory;
  if (run + tracks + kLeast <= all) return longest_timeline_in(all - run - tracks);
  const std::string needed = mebibytes_text(run + tracks + kLeast);
  problems.add(problem_at(
      file, "run.max_memory",
      fmt::format(
          "recorded for --trace, it is estimated to need {}, of which the recording of "
          "GPUs and links takes {}, but only {} is allowed; a lower --trace-detail needs less, "
          "or, if the machine has more, --set 'run.max_memory={}'",
          needed, mebibytes_text(tracks), mebibytes_text(all), needed)));
  return std::nullopt;
}

}  // namespace weft
