#include "sim/engine/simulator.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/engine/overdrawn.h"

namespace weft {
namespace {

// What a work draws from the memory while it runs alone, and for how long. Moving data takes time,
// at least as much as a demand of 32 bits implies; not in a memory that is faster than that (an
// ideal one), which nothing saturates.
struct MemoryJob {
  std::uint32_t demand;  // in units of the rate
  Duration alone;
};
MemoryJob memory_job(const Work& work, std::uint64_t capacity, std::int64_t rate_unit) {
  if (work.traffic.count() == 0) return {.demand = 0, .alone = work.memory_alone};
  __extension__ using Wide = __int128;
  constexpr Wide kPsPerSecond = 1'000'000'000'000;
  const Wide weight = (work.traffic + work.written_more).count();
  const auto rounded_up = [](Wide amount, Wide by) { return (amount + by - 1) / by; };
  Wide alone = work.memory_alone.count();
  if (capacity < UINT32_MAX) {
    alone = std::max(alone, rounded_up(weight * kPsPerSecond, Wide{UINT32_MAX} * rate_unit));
  }
  if (alone == 0) return {.demand = 0, .alone = {}};
  const Wide demand = rounded_up(weight * kPsPerSecond, alone * rate_unit);
  return {.demand = static_cast<std::uint32_t>(std::min<Wide>(demand, UINT32_MAX)),
          .alone = picoseconds(static_cast<std::int64_t>(alone))};
}

bool needs_arithmetic(const TaskGraph& graph) {
  return std::any_of(graph.works.begin(), graph.works.end(),
                     [](const Work& work) { return work.arithmetic_alone.count() > 0; });
}

}  // namespace

Simulator::Simulator(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options)
    : cluster_(cluster),
      graph_(graph),
      options_(options),
      queue_(options.tie_shuffle),
      transport_(cluster.network),
      gpus_(cluster.gpus()),
      memory_timers_(cluster.gpus()),
      clock_(cluster.spec.gpu.power),
      kernels_(graph.kernels.size()),
      spans_(graph.kernels.size()),
      kernels_left_(static_cast<std::uint32_t>(graph.kernels.size())),
      accounts_(cluster, graph) {
  const GpuSpec& gpu = cluster.spec.gpu;
  const auto cus = static_cast<std::uint32_t>(gpu.cus);
  worker_stride_ =
      cus * static_cast<std::uint32_t>(gpu.cu.wgs) + static_cast<std::uint32_t>(gpu.dma.engines);
  const auto takes_no_slot = [](const Kernel& kernel) { return kernel.wg.slots == 0; };
  if (std::any_of(graph.kernels.begin(), graph.kernels.end(), takes_no_slot)) worker_stride_ += cus;
  SIM_ASSERT(std::uint64_t{worker_stride_} * cluster.gpus() < kKernelBit);
  const auto capacity = static_cast<std::uint64_t>(gpu.memory.bandwidth.count() / kRateUnit);
  memory_.assign(cluster.gpus(), SharedServer(capacity, &cluster.memory_bend));
  for (const Straggler& slow : cluster.spec.stragglers) {
    const Bandwidth left = fraction_of(gpu.memory.bandwidth, slow.memory);
    memory_[static_cast<std::size_t>(slow.gpu)] =
        SharedServer(static_cast<std::uint64_t>(left.count() / kRateUnit), &cluster.memory_bend);
  }
  cus_.assign(cluster.gpus(), CuSet(gpu.cus, gpu.cu));
  if (needs_arithmetic(graph)) {
    arithmetic_.assign(std::size_t{cluster.gpus()} * cus,
                       SharedServer(1000, &cluster.arithmetic_bend));
    arithmetic_timers_.resize(arithmetic_.size());
  }
  if (gpu.peer_store.fences == Fences::one_a_cu) {
    fences_.resize(std::size_t{cluster.gpus()} * cus);
  }
  for (GpuState& state : gpus_) state.free_engines = static_cast<std::uint32_t>(gpu.dma.engines);
  for (const Work& work : graph.works) {
    const MemoryJob job = memory_job(work, capacity, kRateUnit);
    demand_.push_back(job.demand);
    alone_.push_back(job.alone);
    if (clock_.falls()) {
      matrix_share_.push_back(
          share_of_matrix(gpu, work.flops, longer(job.alone, work.arithmetic_alone)));
    }
  }
  if (clock_.falls()) {
    matrix_now_.resize(cluster.gpus());
    matrix_before_.resize(cluster.gpus());
  }

  latches_.reserve(graph.latches.size());
  for (const Latch& latch : graph.latches) latches_.push_back(LatchState(latch.target));
  dependents_begin_.assign(graph.kernels.size() + 1, 0);
  for (const KernelId id : graph.dependencies) dependents_begin_[id.value + 1] += 1;
  for (std::size_t i = 1; i < dependents_begin_.size(); ++i) {
    dependents_begin_[i] += dependents_begin_[i - 1];
  }
  dependents_.resize(graph.dependencies.size());
  std::vector<std::uint32_t> at = dependents_begin_;
  for (std::uint32_t k = 0; k < graph.kernels.size(); ++k) {
    const Kernel& kernel = graph.kernels[KernelId(k)];
    kernels_[k].dependencies_left = kernel.dependencies;
    for (std::uint32_t d = 0; d < kernel.dependencies; ++d) {
      dependents_[at[graph.dependencies[kernel.first_dependency + d].value]++] = k;
    }
    if (!kernel.finish.is_none()) {
      SIM_ASSERT(latches_[kernel.finish.value].waiter() == LatchState::kNobody);
      latches_[kernel.finish.value].await(kKernelBit | k);
    } else {
      kernels_[k].flags_seen = true;
    }
  }
}

Simulator::Simulator(const Cluster& cluster, const TaskGraph& graph, const RunOptions& options,
                     const Shares& shares, std::uint32_t share)
    : Simulator(cluster, graph, options) {
  shares_ = &shares;
  share_ = share;
  const Places& places = shares.places;
  nics_tell_latches_ = transport_.nics_have_one_gpu();
  windows_.emplace(places.lookahead, places.count, options.tie_shuffle);
  links_of_places_.emplace(places);
  for (const Kernel& kernel : graph.kernels) kernels_left_ -= is_here(kernel.gpu) ? 0U : 1U;
  for (const LinkId link : links_from_here()) {
    if (shares.of_place[places.of_link[link.value]] != share) transport_.ends_elsewhere(link);
  }
}

Progress Simulator::progress() const {
  return {.events = events_,
          .now = now_,
          .wgs_done = accounts_.items_done(),
          .wgs = graph_.items.size(),
          .kernels = graph_.kernels.size(),
          .messages = graph_.sends.size()};
}

void Simulator::record(const RecordOptions& what) {
  recorder_ = std::make_unique<Recorder>(cluster_, graph_, what,
                                         std::size_t{worker_stride_} * cluster_.gpus(), demand_);
  if (shares_ != nullptr) recorder_->watch_only(gpus_here(), links_from_here());
}

Recording Simulator::recording(Duration time) {
  return recorder_->close(time, {accounts_, transport_, memory_}, spans_);
}

void Simulator::mark_memory(std::uint32_t gpu) {
  if (memory_timers_[gpu].dirty) return;
  memory_timers_[gpu].dirty = true;
  unsettled_ = true;
  dirty_memory_.push_back(gpu);
}

void Simulator::mark_arithmetic(std::uint32_t cu) {
  if (arithmetic_timers_[cu].dirty) return;
  arithmetic_timers_[cu].dirty = true;
  unsettled_ = true;
  dirty_arithmetic_.push_back(cu);
}

void Simulator::settle(SharedServer& server, Timer& timer, EventKind kind, std::uint32_t id) {
  timer.dirty = false;
  const SimTime next = server.settle(now_);
  // An event that comes too early is harmless: it settles again. Only an earlier time needs
  // another.
  if (next < timer.at) {
    timer.at = next;
    schedule(next, kind, id);
  }
}

void Simulator::settle_instant() {
  for (const std::uint32_t gpu : starting_) dispatch(gpu);
  starting_.clear();
  for (const std::uint32_t gpu : dirty_memory_) {
    settle(memory_[gpu], memory_timers_[gpu], EventKind::memory, gpu);
    fetch_worker(gpu, memory_[gpu].next_job());
    if (clock_.falls()) matrix_before_[gpu] = matrix_now_[gpu];
  }
  dirty_memory_.clear();
  for (const std::uint32_t cu : dirty_arithmetic_) {
    settle(arithmetic_[cu], arithmetic_timers_[cu], EventKind::arithmetic, cu);
  }
  dirty_arithmetic_.clear();
  unsettled_ = false;
}

void Simulator::memory_event(std::uint32_t gpu) {
  if (serve(memory_[gpu], memory_timers_[gpu], gpu)) mark_memory(gpu);
}

void Simulator::arithmetic_event(std::uint32_t cu) {
  const std::uint32_t gpu = cu / static_cast<std::uint32_t>(cluster_.spec.gpu.cus);
  if (serve(arithmetic_[cu], arithmetic_timers_[cu], gpu)) mark_arithmetic(cu);
}

// Takes what the server has done by now; false where another event has replaced this one.
bool Simulator::serve(SharedServer& server, Timer& timer, std::uint32_t gpu) {
  if (timer.at != now_) return false;
  timer.at = SharedServer::kNever;
  server.advance(now_);
  for (std::uint32_t worker = server.take_done(); worker != SharedServer::kNoJob;
       worker = server.take_done()) {
    part_done(gpu, worker);
  }
  return true;
}

std::string Simulator::who_waits_for_whom() const {
  constexpr int kMost = 10;
  std::string text = fmt::format("deadlock at {:.3f} us; {} kernels are not done:",
                                 static_cast<double>(now_.count()) * 1e-6, kernels_left_);
  int lines = 0;
  for (std::uint32_t k = 0; k < kernels_.size() && lines < kMost; ++k) {
    const KernelState& state = kernels_[k];
    if (state.finished) continue;
    ++lines;
    const Kernel& kernel = graph_.kernels[KernelId(k)];
    text += fmt::format("\n  GPU {}, {}: ", kernel.gpu.value, graph_.operators[kernel.op].name);
    if (state.dependencies_left > 0) {
      text += fmt::format("waits for {} kernels before it", state.dependencies_left);
    } else if (state.dispatched < state.grid) {
      text += fmt::format("{} of {} WGs wait for a slot on a CU", state.grid - state.dispatched,
                          state.grid);
    } else if (!kernel.finish.is_none() && latches_[kernel.finish.value].left() > 0) {
      text +=
          fmt::format("waits for {} of {} flags from its peers",
                      latches_[kernel.finish.value].left(), graph_.latches[kernel.finish].target);
    } else {
      text += fmt::format("{} of {} WGs are blocked", state.grid - state.retired, state.grid);
    }
    int shown = 0;
    for (const Worker& worker : gpus_[kernel.gpu.value].workers) {
      if (worker.kernel != k || !worker.waits || worker.phase != Phase::begin || ++shown > 3)
        continue;
      const LatchId latch = graph_.item(kernel, worker.item).waits_for;
      text +=
          fmt::format("\n    WG {} waits for latch {}: {} of {} counts are missing", worker.item,
                      latch.value, latches_[latch.value].left(), graph_.latches[latch].target);
    }
  }
  return text;
}

void Simulator::add_paths(RunResult& result) const {
  const auto path_to = [&](const std::vector<KernelId>& kernels) {
    ExitUse path;
    path.critical.resize(graph_.operators.size());
    if (kernels.empty()) return path;
    const KernelId last = last_to_end(kernels, spans_);
    path.end = spans_[last.value].end;
    for (const PathStep& step : critical_path(graph_, spans_, last)) {
      path.critical[graph_.kernels[step.kernel].op.value] += step.until - step.from;
      path.path_gaps += step.gap;
      path.path_from = step.from - step.gap;
    }
    return path;
  };
  std::vector<KernelId> kernels;
  kernels.reserve(spans_.size());
  for (std::uint32_t k = 0; k < spans_.size(); ++k) kernels.emplace_back(k);
  const ExitUse whole = path_to(kernels);
  for (std::size_t i = 0; i < whole.critical.size(); ++i) {
    result.operators[i].critical = whole.critical[i];
  }
  result.path_gaps = whole.path_gaps;
  result.path_from = whole.path_from;
  for (const std::vector<KernelId>& exit : graph_.exits) result.exits.push_back(path_to(exit));
}

RunResult Simulator::collect(Ending ending) {
  RunResult result;
  result.ending = ending;
  if (windows_) now_ = latest_;
  accounts_.close(graph_, now_, result);
  result.time = accounts_.time();
  result.links = rows_of(transport_, SimTime{} + result.time);
  if (ending == Ending::finished) {
    add_paths(result);
    result.ledger.overdrawn = overdrawn(result, cluster_);
  }
  result.events = events_;
  result.fingerprint = fingerprint_.value();
  switch (ending) {
    case Ending::finished:
    case Ending::memory_limit:  // known before a run begins
      break;
    case Ending::deadlock:
      result.stopped_because = who_waits_for_whom();
      break;
    case Ending::event_limit:
      result.stopped_because = fmt::format(
          "run.max_events: reached {} events at {:.3f} us, with {} of {} WGs done; raise the limit "
          "if this is expected",
          events_, static_cast<double>(now_.count()) * 1e-6, accounts_.items_done(),
          graph_.items.size());
      break;
    case Ending::time_limit:
      result.stopped_because = fmt::format(
          "run.max_time: reached {:.3f} us, with {} of {} WGs done; raise the limit if this is "
          "expected",
          to_microseconds(options_.max_time), accounts_.items_done(), graph_.items.size());
      break;
  }
  return result;
}

}  // namespace weft
