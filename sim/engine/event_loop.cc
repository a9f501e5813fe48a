// The loop: what happens next, until nothing is left or a limit is reached.
//
// Events wait in one queue or, where nodes are far enough apart, in windows (WindowQueue): node by
// node, each in the order that its events have in one queue. What results is the same to the last
// byte (docs/decisions/0014-windows.md).

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/engine/simulator.h"

namespace weft {
namespace {

constexpr unsigned kKindShift = 60;
constexpr std::uint64_t kProgressEvery = 1U << 18U;

}  // namespace

std::optional<RunResult> Simulator::run(const OnProgress& on_progress) {
  assert_context() = {.seed = options_.seed, .simulated_ps = 0};
  prepare_windows();
  for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
    if (kernels_[k].dependencies_left > 0) continue;
    const Kernel& kernel = graph_.kernels[KernelId(k)];
    if (windows_) place_ = places_.of_node[cluster_.node_of(kernel.gpu)];
    schedule(SimTime{} + kernel.launch, EventKind::kernel_start, k);
  }
  if (on_progress) on_progress(progress());
  // An item that long cannot end in time, and need not fit the servers' clocks.
  Ending ending = Ending::time_limit;
  if (!graph_.has_longer_item(options_.max_time)) {
    if (!windows_) {
      ending = run_in_order(on_progress);
    } else if (const std::optional<Ending> ended = run_in_windows(on_progress)) {
      ending = *ended;
    } else {
      return std::nullopt;
    }
  }
  if (ending == Ending::finished && kernels_left_ > 0) ending = Ending::deadlock;
  return collect(ending);
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
    if (!queue_.more_now()) settle_instant();
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

// Where results depend on the order of events of different nodes, or on the event with which a run
// stops: none, and one queue has to say.
std::optional<Ending> Simulator::run_in_windows(const OnProgress& on_progress) {
  const SimTime last = SimTime{} + options_.max_time;
  const auto most = static_cast<std::uint64_t>(options_.max_events);
  SimTime stop = recorder_ == nullptr ? last : SimTime{};
  SimTime latest;
  std::uint64_t told = 0;
  bool in_time = true;
  while (in_time && !windows_->empty()) {
    const SimTime first = windows_->begin_window(stop);
    if (first > stop) {
      in_time = first <= last;
      if (in_time) stop = std::min(last, record_until(first));
      continue;
    }
    while (windows_->next_place()) {
      place_ = windows_->place();
      while (windows_->more()) {
        happen(windows_->pop());
        if (!windows_->more_now()) settle_instant();
      }
      latest = later(latest, now_);
    }
    if (memories_can_fall_behind_ || events_ > most) return std::nullopt;
    if (events_ / kProgressEvery == told) continue;
    told = events_ / kProgressEvery;
    assert_context().simulated_ps = now_.count();
    if (on_progress) on_progress(progress());
  }
  if (!in_time && events_ == most) return std::nullopt;
  now_ = latest;
  if (kernels_left_ == 0) SIM_ASSERT(transport_.in_flight() == 0);
  return in_time ? Ending::finished : Ending::time_limit;
}

// Records of WGs and messages are kept in the order in which things happen, on all nodes.
void Simulator::prepare_windows() {
  if (options_.queues == Queues::one || cluster_.network.nodes < 2) return;
  if (recorder_ != nullptr && !recorder_->keeps_only_intervals()) return;
  places_ = places_of(cluster_, graph_, transport_);
  if (places_.count < 2 || places_.lookahead < WindowQueue::kLeastLookahead) return;
  windows_.emplace(places_.lookahead, places_.count, options_.tie_shuffle);
}

// Samples all intervals that have ended by then; returns the end of the next one.
SimTime Simulator::record_until(SimTime at) {
  while (recorder_->next_sample() < at) recorder_->sample({accounts_, transport_, memory_});
  return recorder_->next_sample();
}

void Simulator::schedule(SimTime at, EventKind kind, std::uint32_t id) {
  const std::uint64_t content = (std::uint64_t{static_cast<std::uint8_t>(kind)} << kKindShift) | id;
  if (!windows_) return queue_.push(at, content);
  windows_->push(at, content, kind == EventKind::link ? places_.of_link[id] : place_);
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
