// The loop: what happens next, until nothing is left or a limit is reached. Events wait in one
// queue or, where nodes are far enough apart, in windows (windows.cc).

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/engine/simulator.h"

namespace weft {

RunResult Simulator::run(const OnProgress& on_progress) {
  assert_context() = {.seed = options_.seed, .simulated_ps = 0};
  for (std::uint32_t k = 0; k < kernels_.size(); ++k) start_kernel_without_dependencies(k);
  if (on_progress) on_progress(progress());
  Ending ending =
      graph_.has_longer_item(options_.max_time) ? Ending::time_limit : run_in_order(on_progress);
  if (ending == Ending::finished && kernels_left_ > 0) ending = Ending::deadlock;
  return collect(ending);
}

void Simulator::start_kernel_without_dependencies(std::uint32_t kernel) {
  if (kernels_[kernel].dependencies_left > 0) return;
  const Kernel& first = graph_.kernels[KernelId(kernel)];
  schedule(SimTime{} + first.release + first.launch, EventKind::kernel_start, kernel);
}

Ending Simulator::run_in_order(const OnProgress& on_progress) {
  const SimTime last = SimTime{} + options_.max_time;
  SimTime stop = recorder_ == nullptr ? last : SimTime{};
  while (!queue_.empty()) {
    const Event event = queue_.pop();
    const SimTime at = SimTime::from_count(static_cast<std::int64_t>(event.at_ps));
    if (at > stop) {
      if (at > last) return Ending::time_limit;
      stop = std::min(last, record_until(at));
    }
    happen(event);
    if (unsettled_ && !queue_.more_now()) settle_instant();
    if (events_ % kProgressEvery == 0) {
      assert_context().simulated_ps = now_.count();
      if (on_progress) on_progress(progress());
    }
    if (events_ == static_cast<std::uint64_t>(options_.max_events) && !queue_.empty()) {
      return Ending::event_limit;
    }
  }
  return Ending::finished;
}

// Samples all intervals that have ended by then; returns the end of the next one.
SimTime Simulator::record_until(SimTime at) {
  while (recorder_->next_sample() < at) recorder_->sample({accounts_, transport_, memory_});
  return recorder_->next_sample();
}

void Simulator::schedule(SimTime at, EventKind kind, std::uint32_t id) {
  const std::uint64_t content = (std::uint64_t{static_cast<std::uint8_t>(kind)} << kKindShift) | id;
  if (!windows_) return queue_.push(at, content);
  windows_->push(at, content, kind == EventKind::link ? shares_->places.of_link[id] : place_);
}

void Simulator::happen(const Event& event) {
  now_ = SimTime::from_count(static_cast<std::int64_t>(event.at_ps));
  fingerprint_.add(event.at_ps * 0xD6E8FEB86659FD93ULL + event.content);
  ++events_;
  handle(static_cast<EventKind>(event.content >> kKindShift),
         static_cast<std::uint32_t>(event.content));
}

void Simulator::handle(EventKind kind, std::uint32_t id) {
  switch (kind) {
    case EventKind::link:
      return link_event(LinkId(id));
    case EventKind::memory:
      return memory_event(id);
    case EventKind::arithmetic:
      return arithmetic_event(id);
    case EventKind::worker:
      return resume(id / worker_stride_, id % worker_stride_);
    case EventKind::proxy:
      return proxy_event(id);
    case EventKind::kernel_start:
      return kernel_start(id);
    case EventKind::kernel_flags:
      return kernel_flags(id);
    case EventKind::fence:
      return fence_event(id);
    case EventKind::taken_in:
      return taken_in(id);
  }
  SIM_ASSERT(false);
}

}  // namespace weft
