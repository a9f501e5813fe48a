#include "sim/engine/windowed_run.h"

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <utility>

#include "sim/core/assert.h"

namespace weft {
namespace {

constexpr std::uint64_t kProgressEvery = 1U << 18U;
// A window with fewer pending events is over before another core has begun.
constexpr std::size_t kWorthACore = 300;

}  // namespace

WindowedRun::WindowedRun(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options,
                         Shares shares, const RecordOptions* record)
    : options_(options), graph_(graph), shares_(std::move(shares)), records_(record != nullptr) {
  for (std::uint32_t share = 0; share < shares_.count; ++share) {
    simulators_.push_back(std::make_unique<Simulator>(cluster, graph, options, shares_, share));
    if (records_) simulators_.back()->record(*record);
    simulators_.back()->start();
  }
  for (std::vector<Box>& boxes : boxes_) boxes.resize(std::size_t{shares_.count} * shares_.count);
}

std::optional<Recorded> WindowedRun::run(const OnProgress& on_progress) {
  if (on_progress) on_progress(progress());
  // An item that long cannot end in time, and need not fit the servers' clocks.
  if (graph_.has_longer_item(options_.max_time)) return collect(Ending::time_limit);
  std::optional<Ending> ending;
  if (shares_.count == 1) {
    ending = run_windows(on_progress);
  } else {
    tbb::task_arena(static_cast<int>(shares_.count)).execute([&] {
      ending = run_windows(on_progress);
    });
  }
  if (!ending) return std::nullopt;
  std::uint32_t kernels_left = 0;
  for (const auto& simulator : simulators_) kernels_left += simulator->kernels_left();
  if (*ending != Ending::finished || kernels_left == 0) return collect(*ending);
  // Only one simulator of all knows who waits for whom.
  if (shares_.count > 1) return std::nullopt;
  return collect(Ending::deadlock);
}

// Where results depend on the order of events of different nodes, or on the event with which a run
// stops: none, and one queue has to say.
std::optional<Ending> WindowedRun::run_windows(const OnProgress& on_progress) {
  const SimTime last = SimTime{} + options_.max_time;
  SimTime stop = records_ ? SimTime{} : last;
  std::uint64_t told = 0;
  for (;;) {
    const WindowQueue::Next next = this->next();
    if (next.at == WindowQueue::kNever) return Ending::finished;
    if (next.at > last) {
      const bool stops_with_an_event =
          progress().events == static_cast<std::uint64_t>(options_.max_events);
      return stops_with_an_event ? std::nullopt : std::optional(Ending::time_limit);
    }
    if (next.at > stop) {
      stop = std::min(last, record_until(next.at));
      continue;
    }
    run_window(next, stop);
    const Progress progress = this->progress();
    if (must_be_repeated(progress)) return std::nullopt;
    if (progress.events / kProgressEvery == told) continue;
    told = progress.events / kProgressEvery;
    if (on_progress) on_progress(progress);
  }
}

// The earliest of what is pending and of what is in the boxes.
WindowQueue::Next WindowedRun::next() {
  WindowQueue::Next next;
  for (const auto& simulator : simulators_) {
    next.at = std::min(next.at, simulator->next().at);
    next.events += simulator->next().events;
  }
  for (const Box& box : boxes_[turn_]) {
    next.at = std::min(next.at, box.first);
    next.events += box.messages.size();
  }
  return next;
}

void WindowedRun::run_window(const WindowQueue::Next& next, SimTime stop) {
  turn_ ^= 1U;
  if (shares_.count == 1 || next.events < kWorthACore) {
    for (std::uint32_t share = 0; share < shares_.count; ++share) run_share(share, next.at, stop);
    return;
  }
  // Each share stays on its core as far as possible, and a core that is done takes up nothing else.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(
        0U, shares_.count, [&](std::uint32_t share) { run_share(share, next.at, stop); },
        tbb::static_partitioner());
  });
}

void WindowedRun::run_share(std::uint32_t share, SimTime first, SimTime stop) {
  Simulator& simulator = *simulators_[share];
  for (std::uint32_t from = 0; from < shares_.count; ++from) {
    Box& sent = box(turn_ ^ 1U, from, share);
    for (const Transport::HandedOver& message : sent.messages) simulator.take_over(message);
    sent.messages.clear();
    sent.first = WindowQueue::kNever;
  }
  simulator.run_window(first, stop);
  for (const Transport::HandedOver& message : simulator.handed_over()) {
    Box& box =
        this->box(turn_, share, shares_.of_place[shares_.places.of_link[message.link.value]]);
    box.messages.push_back(message);
    box.first = std::min(box.first, message.message.due);
  }
  simulator.handed_over().clear();
}

SimTime WindowedRun::record_until(SimTime at) {
  SimTime next;
  for (const auto& simulator : simulators_) next = simulator->record_until(at);
  return next;
}

Progress WindowedRun::progress() const {
  Progress all = simulators_.front()->progress();
  for (std::uint32_t share = 1; share < shares_.count; ++share) {
    const Progress progress = simulators_[share]->progress();
    all.events += progress.events;
    all.wgs_done += progress.wgs_done;
    all.now = later(all.now, progress.now);
  }
  return all;
}

bool WindowedRun::must_be_repeated(const Progress& progress) const {
  return progress.events > static_cast<std::uint64_t>(options_.max_events) ||
         std::any_of(simulators_.begin(), simulators_.end(),
                     [](const auto& simulator) { return simulator->memories_can_fall_behind(); });
}

Recorded WindowedRun::collect(Ending ending) {
  Recorded all;
  Simulator& first = *simulators_.front();
  Duration time;
  for (const auto& simulator : simulators_) time = longer(time, simulator->time());
  for (std::uint32_t share = 0; records_ && ending == Ending::finished && share < shares_.count;
       ++share) {
    Recording recording = simulators_[share]->recording(time);
    if (share == 0) {
      all.recording = std::move(recording);
    } else {
      all.recording.amounts.add(recording.amounts);
    }
  }
  for (std::uint32_t share = 1; share < shares_.count; ++share) {
    first.take_over(*simulators_[share]);
  }
  if (ending == Ending::finished) SIM_ASSERT(first.in_flight() == 0);
  all.result = first.collect(ending);
  return all;
}

}  // namespace weft
