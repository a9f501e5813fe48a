#include "sim/traces/pytorch/host_time.h"

#include <algorithm>
#include <utility>

#include "sim/traces/trace_limits.h"

namespace weft {
namespace {

// The calls that launched kernels, by correlation.
std::map<std::int64_t, const HostEvent*> launches(const KinetoFile& profile) {
  std::map<std::int64_t, const HostEvent*> calls;
  for (const HostEvent& event : profile.host) {
    if (event.kind == HostEvent::Kind::runtime) calls.emplace(event.correlation, &event);
  }
  return calls;
}

// Between kernels, in nanoseconds.
struct Gap {
  std::int64_t length = 0;
  std::int64_t unlaunched = 0;  // until the call that launched the next kernel returned
};

// What the GPU by itself leaves between two kernels: the median where the next one was launched.
std::int64_t own_gap(const std::vector<Gap>& gaps) {
  std::vector<std::int64_t> own;
  for (const Gap& gap : gaps) {
    if (gap.unlaunched == 0) own.push_back(gap.length);
  }
  if (own.empty()) return 0;
  const auto middle = own.begin() + static_cast<std::ptrdiff_t>(own.size() / 2);
  std::nth_element(own.begin(), middle, own.end());
  return *middle;
}

// Starts may be anything below 2^62 ns, and a Duration holds 106 days.
Duration at_most_days(std::int64_t ns) {
  constexpr std::int64_t kMost = std::int64_t{100} * 24 * 3600 * 1'000'000'000;
  return nanoseconds(std::min(ns, kMost));
}

}  // namespace

RecordedStep recorded_step(const KinetoFile& profile) {
  RecordedStep step;
  if (profile.gpu.empty()) return step;
  std::vector<const GpuEvent*> events;
  events.reserve(profile.gpu.size());
  for (const GpuEvent& event : profile.gpu) events.push_back(&event);
  std::stable_sort(events.begin(), events.end(),
                   [](const GpuEvent* a, const GpuEvent* b) { return a->start < b->start; });
  const std::map<std::int64_t, const HostEvent*> launched_by = launches(profile);
  std::int64_t busy_until = events.front()->start;
  std::vector<Gap> gaps;
  for (const GpuEvent* event : events) {
    if (event->start > busy_until) {
      Gap& gap = gaps.emplace_back();
      gap.length = event->start - busy_until;
      const auto launch = launched_by.find(event->correlation);
      if (launch != launched_by.end()) {
        const std::int64_t returned = launch->second->start + launch->second->duration;
        gap.unlaunched = std::clamp(returned, busy_until, event->start) - busy_until;
      }
    }
    busy_until = std::max(busy_until, event->start + event->duration);
  }
  const std::int64_t own = own_gap(gaps);
  std::int64_t idle = 0;
  std::int64_t unlaunched = 0;
  for (const Gap& gap : gaps) {
    idle += gap.length;
    unlaunched += std::min(gap.unlaunched, std::max(gap.length - own, std::int64_t{0}));
  }
  step.time = at_most_days(busy_until - events.front()->start);
  step.idle = at_most_days(idle);
  step.unlaunched = at_most_days(unlaunched);
  return step;
}

void HostClock::start(std::int64_t at, std::uint32_t lane) {
  free_at_ = at;
  lane_ = lane;
}

bool HostClock::go_to(std::int64_t at, std::vector<TraceNode>& nodes) {
  if (at <= free_at_) return true;  // another thread has come further
  if (at - free_at_ > trace_limits::kMicroseconds * 1000) return false;
  RecordedShape shape{.time = nanoseconds(at - free_at_), .lds = {}};
  shape.host = true;
  free_at_ = at;
  nodes.push_back({.label = "the host",
                   .name = "host",
                   .part = "host",
                   .what = ComputeNode{.shape = shape, .lane = lane_},
                   .after = std::exchange(waited_for_, {})});
  last_ = static_cast<std::uint32_t>(nodes.size() - 1);
  any_ = true;
  return true;
}

void HostClock::wait(std::int64_t duration,
                     const std::map<std::int64_t, std::uint32_t>& waited_for) {
  if (free_at_ < kLatest) free_at_ += duration;
  for (const auto& [stream, node] : waited_for) waited_for_.push_back(node);
}

void HostClock::add_to(std::vector<std::uint32_t>& after) const {
  if (any_) after.push_back(last_);
}

}  // namespace weft
