#include "sim/traces/pytorch/mean_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/traces/pytorch/host_time.h"

namespace weft {
namespace {

void sort_by_stream(std::vector<GpuEvent>& events) {
  std::stable_sort(events.begin(), events.end(), [](const GpuEvent& a, const GpuEvent& b) {
    return std::tuple(a.stream, a.start) < std::tuple(b.stream, b.start);
  });
}

bool same_kernel(const GpuEvent& a, const GpuEvent& b) {
  return a.stream == b.stream && a.name == b.name && a.wgs == b.wgs;
}

// What differs, or nothing.
std::string difference(const std::vector<GpuEvent>& first, const std::vector<GpuEvent>& other) {
  if (first.size() != other.size()) {
    return fmt::format("{} and {} kernels", first.size(), other.size());
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (same_kernel(first[i], other[i])) continue;
    constexpr std::size_t kMostOfName = 60;
    return fmt::format("'{}' and '{}' in the same place", first[i].name.substr(0, kMostOfName),
                       other[i].name.substr(0, kMostOfName));
  }
  return {};
}

KinetoFile only(const KinetoFile& file, const ProfilerStep& step) {
  KinetoFile one = file;
  keep_step(one, step);
  sort_by_stream(one.gpu);
  return one;
}

}  // namespace

void keep_mean_of_steps(KinetoFile& file, TraceProblems& problems) {
  if (file.steps.empty()) {
    return problems.add(file.name, "steps", "mean of steps, but the profile has no ProfilerStep#N");
  }
  constexpr std::size_t kMostSteps = 100;
  if (file.steps.size() > kMostSteps) {
    return problems.add(
        file.name, "steps",
        fmt::format("mean of {} steps; of at most {}", file.steps.size(), kMostSteps));
  }
  const std::vector<ProfilerStep> steps = file.steps;
  const auto number = static_cast<std::int64_t>(steps.size());
  KinetoFile mean = only(file, steps.front());
  RecordedStep sum = recorded_step(mean);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const KinetoFile other = only(file, steps[i]);
    if (const std::string what = difference(mean.gpu, other.gpu); !what.empty()) {
      return problems.add(
          file.name, "steps",
          fmt::format("steps #{} and #{} have {}, so they have no mean; 'step' takes one",
                      steps.front().number, steps[i].number, what));
    }
    for (std::size_t k = 0; k < mean.gpu.size(); ++k) {
      mean.gpu[k].duration += other.gpu[k].duration;
      mean.gpu[k].beside = mean.gpu[k].beside || other.gpu[k].beside;
    }
    const RecordedStep step = recorded_step(other);
    add_saturating(sum.time, step.time);
    add_saturating(sum.idle, step.idle);
    add_saturating(sum.unlaunched, step.unlaunched);
  }
  for (GpuEvent& event : mean.gpu) event.duration /= number;
  mean.mean_step = RecordedStep{.time = picoseconds(sum.time.count() / number),
                                .idle = picoseconds(sum.idle.count() / number),
                                .unlaunched = picoseconds(sum.unlaunched.count() / number)};
  file = std::move(mean);
}

}  // namespace weft
