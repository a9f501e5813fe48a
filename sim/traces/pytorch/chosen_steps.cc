#include "sim/traces/pytorch/chosen_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/traces/pytorch/mean_step.h"

namespace weft {
namespace {

// Nothing after a problem.
std::vector<ProfilerStep> steps_in_range(const TraceWork& work, const KinetoFile& file,
                                         TraceProblems& problems) {
  if (work.last_step >= 0 && work.last_step < work.step) {
    problems.add(work.path, "last_step", "must come after step, the first of the steps");
    return {};
  }
  const std::int64_t last = std::max(work.step, work.last_step);
  std::vector<ProfilerStep> chosen;
  std::string known;
  for (const ProfilerStep& step : file.steps) {
    if (step.number >= work.step && step.number <= last) chosen.push_back(step);
    known += fmt::format(" #{}", step.number);
  }
  const auto wanted = static_cast<std::size_t>(last - work.step) + 1;
  if (chosen.size() == wanted) return chosen;
  const std::string range = wanted == 1
                                ? fmt::format("no step #{}", work.step)
                                : fmt::format("not each step from #{} to #{}", work.step, last);
  problems.add(file.name, "step",
               fmt::format("{}; it has{}", range, known.empty() ? " none" : known));
  return {};
}

// What the host did from the start of the first of them to the end of the last.
ProfilerStep span_of(const std::vector<ProfilerStep>& steps) {
  ProfilerStep all = steps.front();
  std::int64_t end = 0;
  for (const ProfilerStep& step : steps) {
    all.start = std::min(all.start, step.start);
    end = std::max(end, step.start + step.duration);
  }
  all.duration = end - all.start;
  return all;
}

void keep_chosen(const TraceWork& work, KinetoFile& file, TraceProblems& problems) {
  if (work.step >= 0) {
    std::vector<ProfilerStep> chosen = steps_in_range(work, file, problems);
    if (chosen.empty()) return;
    file.steps = std::move(chosen);
  }
  if (work.steps == StepsAs::mean) return keep_mean_of_steps(file, problems);
  if (work.step >= 0) keep_step(file, span_of(file.steps));
}

}  // namespace

std::size_t choose_steps(const TraceWork& work, KinetoFile& file, TraceProblems& problems) {
  keep_chosen(work, file, problems);
  return drop_unlaunched(file);
}

}  // namespace weft
