#include "sim/engine/windowed_run.h"

#include <algorithm>
#include <utility>

#include "sim/core/assert.h"

namespace weft {
namespace {

constexpr std::size_t kWorthSampling = 16;  // nodes for a core

}  // namespace

WindowedRun::WindowedRun(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options,
                         Shares shares, const RecordOptions* record, std::size_t worth_a_core)
    : options_(options),
      graph_(graph),
      shares_(std::move(shares)),
      records_(record != nullptr),
      worth_a_core_(worth_a_core),
      left_(shares_.count),
      crew_(shares_.count) {
  for (std::uint32_t share = 0; share < shares_.count; ++share) {
    simulators_.push_back(std::make_unique<Simulator>(cluster, graph, options, shares_, share));
    if (records_) simulators_.back()->record(*record);
    simulators_.back()->start();
  }
  for (std::vector<Box>& boxes : boxes_) boxes.resize(std::size_t{shares_.count} * shares_.count);
  for (std::uint32_t share = 0; share < shares_.count; ++share) look_at(share);
}

std::optional<Recorded> WindowedRun::run(const OnProgress& on_progress) {
  if (on_progress) on_progress(progress());
  // An item that long cannot end in time, and need not fit the servers' clocks.
  if (graph_.has_longer_item(options_.max_time)) return collect(Ending::time_limit);
  const std::optional<Ending> ending = run_windows(on_progress);
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
  const auto most = static_cast<std::uint64_t>(options_.max_events);
  SimTime stop = records_ ? SimTime{} : last;
  std::uint64_t told = 0;
  for (;;) {
    const Left left = of_all();
    if (left.must_be_repeated || left.done > most) return std::nullopt;
    if (left.first == WindowQueue::kNever) return Ending::finished;
    if (left.first > last) {
      return left.done == most ? std::nullopt : std::optional(Ending::time_limit);
    }
    if (left.done / kProgressEvery != told) {
      told = left.done / kProgressEvery;
      if (on_progress) on_progress(progress());
    }
    if (left.first > stop) {
      stop = std::min(last, record_until(left.first));
    } else {
      run_window(left, stop);
    }
  }
}

// Of all shares; `events` are those of shares that have some in the next window.
WindowedRun::Left WindowedRun::of_all() const {
  Left all{.first = WindowQueue::kNever};
  for (const Left& of_share : left_) {
    all.first = std::min(all.first, of_share.first);
    all.done += of_share.done;
    all.must_be_repeated = all.must_be_repeated || of_share.must_be_repeated;
  }
  if (all.first == WindowQueue::kNever) return all;
  for (const Left& of_share : left_) {
    if (of_share.first - all.first < shares_.places.lookahead) all.events += of_share.events;
  }
  return all;
}

void WindowedRun::run_window(const Left& left, SimTime stop) {
  turn_ ^= 1U;
  const auto worth =
      static_cast<std::uint32_t>(std::min<std::size_t>(left.events / worth_a_core_, shares_.count));
  const Window window{.first = left.first, .stop = stop};
  crew_.do_together(worth, [this, &window](std::uint32_t share) { run_share(share, window); });
}

void WindowedRun::run_share(std::uint32_t share, const Window& window) {
  Simulator& simulator = *simulators_[share];
  for (std::uint32_t from = 0; from < shares_.count; ++from) {
    std::vector<Transport::HandedOver>& sent = box(turn_ ^ 1U, from, share).messages;
    for (const Transport::HandedOver& message : sent) simulator.take_over(message);
    sent.clear();
  }
  simulator.run_window(window.first, window.stop);
  for (const Transport::HandedOver& message : simulator.handed_over()) {
    SIM_ASSERT(message.message.due - window.first >= shares_.places.lookahead);
  }
  look_at(share);
}

void WindowedRun::look_at(std::uint32_t share) {
  Simulator& simulator = *simulators_[share];
  const WindowQueue::Next& next = simulator.next();
  Left left{.first = next.at,
            .events = next.events + simulator.handed_over().size(),
            .done = simulator.events(),
            .must_be_repeated = simulator.memories_can_fall_behind()};
  for (const Transport::HandedOver& message : simulator.handed_over()) {
    const std::uint32_t to = shares_.of_place[shares_.places.of_link[message.link.value]];
    box(turn_, share, to).messages.push_back(message);
    left.first = std::min(left.first, message.message.due);
  }
  simulator.handed_over().clear();
  left_[share] = left;
}

SimTime WindowedRun::record_until(SimTime at) {
  const auto worth = static_cast<std::uint32_t>(shares_.places.of_node.size() / kWorthSampling);
  crew_.do_together(std::min(worth, shares_.count),
                    [&](std::uint32_t share) { simulators_[share]->record_until(at); });
  return simulators_.front()->record_until(at);  // the same for all: nothing is left to sample
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
