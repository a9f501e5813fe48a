// Kernels: start, slots for their WGs, end.

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/engine/simulator.h"

namespace weft {

void Simulator::kernel_start(std::uint32_t k) {
  const Kernel& kernel = graph_.kernels[KernelId(k)];
  KernelState& state = kernels_[k];
  spans_[k].start = now_;
  state.grid = kernel.items;
  if (kernel.persistent) {
    const GpuSpec& gpu = cluster_.spec.gpu;
    const int fit = kernel.executor == Executor::cu
                        ? wgs_per_cu(gpu.cu, kernel.wg) * cus_in(kernel.cus, gpu.cus)
                        : gpu.dma.engines;
    SIM_ASSERT(fit > 0);  // the scenario was checked for it
    state.grid = std::min({kernel.items, kernel.max_grid, static_cast<std::uint32_t>(fit)});
  }
  accounts_.kernel_started(now_, kernel);
  std::vector<std::uint32_t>& active = gpus_[kernel.gpu.value].active;
  auto place = active.end();
  while (place != active.begin() && precedes(k, *(place - 1))) --place;
  active.insert(place, k);
  starting_.push_back(kernel.gpu.value);
  unsettled_ = true;
}

// Higher priority first, then earlier start. Kernels of one instant are in the order of their
// launch, which is that of their numbers.
bool Simulator::precedes(std::uint32_t k, std::uint32_t other) const {
  const int priority = graph_.kernels[KernelId(k)].priority;
  const int other_priority = graph_.kernels[KernelId(other)].priority;
  if (priority != other_priority) return priority > other_priority;
  const SimTime start = spans_[k].start;
  if (start != spans_[other].start) return start < spans_[other].start;
  return k < other;
}

// Places WGs of waiting kernels where there is room, kernels in their order.
void Simulator::dispatch(std::uint32_t gpu) {
  std::vector<std::uint32_t>& active = gpus_[gpu].active;
  for (std::size_t i = 0; i < active.size();) {
    const std::uint32_t k = active[i];
    const Kernel& kernel = graph_.kernels[KernelId(k)];
    while (!kernels_[k].draining && kernels_[k].dispatched < kernels_[k].grid) {
      std::uint32_t cu = kNone;
      if (kernel.executor == Executor::cu) {
        cu = cus_[gpu].place(kernel.wg, kernel.cus);
        if (cu == kNone) break;
      } else if (gpus_[gpu].free_engines == 0) {
        break;
      }
      dispatch_one(gpu, k, cu);
    }
    if (kernels_[k].dispatched < kernels_[k].grid) {
      ++i;
    } else {
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

// For the WGs that the kernel may still start at once: vectors that double would have twice as
// many, and leave holes.
void Simulator::make_room(std::uint32_t gpu, std::uint32_t k) {
  GpuState& state = gpus_[gpu];
  if (state.workers.size() < state.workers.capacity()) return;
  const Kernel& kernel = graph_.kernels[KernelId(k)];
  const GpuSpec& spec = cluster_.spec.gpu;
  const auto slots = static_cast<std::uint32_t>(kernel.executor == Executor::cu
                                                    ? wgs_per_cu(spec.cu, kernel.wg) * spec.cus
                                                    : spec.dma.engines);
  const std::uint32_t left = kernels_[k].grid - kernels_[k].dispatched;
  const std::size_t room = state.workers.size() + std::max(1U, std::min(slots, left));
  state.workers.reserve(room);
}

// Starts the next WG of the grid in a slot already taken on `cu`, or on a free copy engine.
void Simulator::dispatch_one(std::uint32_t gpu, std::uint32_t k, std::uint32_t cu) {
  const Kernel& kernel = graph_.kernels[KernelId(k)];
  GpuState& state = gpus_[gpu];
  std::uint32_t index = 0;
  if (state.free_workers.empty()) {
    make_room(gpu, k);
    index = static_cast<std::uint32_t>(state.workers.size());
    SIM_ASSERT(index < worker_stride_);
    state.workers.emplace_back();
    if (!state.stores.empty()) state.stores.emplace_back();
  } else {
    index = state.free_workers.back();
    state.free_workers.pop_back();
  }
  Worker& worker = state.workers[index];
  worker = Worker{};
  worker.kernel = k;
  worker.cu = cu;
  if (!state.stores.empty()) state.stores[index] = Stores{};
  worker.next_static = kernels_[k].dispatched++;
  worker.phase = Phase::take_item;
  accounts_.wg_placed(now_, kernel);
  SimTime start = now_;
  if (cu == kNone) {
    state.free_engines -= 1;
    // One command per engine, one after another.
    start = later(now_, state.commands_free) + cluster_.spec.gpu.dma.host;
    state.commands_free = start;
  } else {
    state.turn = k;
    start = later(now_, state.dispatcher_free);
    state.dispatcher_free = start + cluster_.spec.gpu.launch.wg_interval;
  }
  // A WG that starts now gets an event as well, so that all WGs of a grid have their slots first.
  schedule(start + kernel.startup, EventKind::worker, worker_id(gpu, index));
}

void Simulator::out_of_items(std::uint32_t gpu, std::uint32_t w) {
  Worker& worker = gpus_[gpu].workers[w];
  const std::uint32_t k = worker.kernel;
  KernelState& state = kernels_[k];
  const Kernel& kernel = graph_.kernels[KernelId(k)];
  if (kernel.persistent && kernel.work_list == WorkList::dynamic_list &&
      state.dispatched < state.grid) {
    // WGs of the grid that had no room yet would find nothing to do.
    state.grid = state.dispatched;
    std::vector<std::uint32_t>& active = gpus_[gpu].active;
    active.erase(std::remove(active.begin(), active.end(), k), active.end());
  }
  if (kernel.persistent && kernel.work_list == WorkList::first_static) {
    state.draining = state.dispatched < state.grid;
  }
  if (kernel.persistent && !state.flags_seen && kernel.executor == Executor::cu) {
    worker.phase = Phase::linger;
    worker.since = now_;
    state.lingering += 1;
    return;
  }
  release_place(gpu, w);
  state.retired += 1;
  if (state.draining && state.retired == state.dispatched) {
    state.draining = false;
    dispatch(gpu);
  }
  finish_if_done(k);
}

void Simulator::release_place(std::uint32_t gpu, std::uint32_t w) {
  GpuState& state = gpus_[gpu];
  Worker& worker = state.workers[w];
  const std::uint32_t cu = worker.cu;
  const WgFootprint& wg = graph_.kernels[KernelId(worker.kernel)].wg;
  worker = Worker{};
  state.free_workers.push_back(w);
  if (cu == kNone) {
    state.free_engines += 1;
    dispatch(gpu);
    return;
  }
  cus_[gpu].release(cu, wg);
  fill(gpu, cu);
}

// Gives the room on a CU to the kernels that wait for it.
void Simulator::fill(std::uint32_t gpu, std::uint32_t cu) {
  GpuState& state = gpus_[gpu];
  for (std::size_t i = next_in_turn(gpu, cu); i < state.active.size(); i = next_in_turn(gpu, cu)) {
    const std::uint32_t k = state.active[i];
    dispatch_one(gpu, k, cu);
    if (kernels_[k].dispatched == kernels_[k].grid) {
      // The turn then goes to the kernel after it.
      state.turn = i > 0 ? state.active[i - 1] : kNone;
      state.active.erase(state.active.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

// Takes room on a CU for the kernel whose turn it is: the first in their order that fits there; or,
// with round robin, of those of one priority the first after the kernel that had the last turn.
std::size_t Simulator::next_in_turn(std::uint32_t gpu, std::uint32_t cu) {
  const GpuState& state = gpus_[gpu];
  const std::size_t all = state.active.size();
  const bool take_turns = cluster_.spec.gpu.launch.arbitration == Arbitration::round_robin;
  const auto fits = [&](std::size_t i) {
    const Kernel& kernel = graph_.kernels[KernelId(state.active[i])];
    return kernel.executor == Executor::cu && !kernels_[state.active[i]].draining &&
           kernel.cus.contains(cu) && cus_[gpu].place_on(cu, kernel.wg);
  };
  for (std::size_t begin = 0, end = 0; begin < all; begin = end) {
    std::size_t first = begin;
    const int priority = graph_.kernels[KernelId(state.active[begin])].priority;
    for (; end < all && graph_.kernels[KernelId(state.active[end])].priority == priority; ++end) {
      if (take_turns && state.active[end] == state.turn) first = end + 1;
    }
    for (std::size_t step = 0; step < end - begin; ++step) {
      const std::size_t i = begin + (first - begin + step) % (end - begin);
      if (fits(i)) return i;
    }
  }
  return all;
}

void Simulator::kernel_flags(std::uint32_t k) {
  const Kernel& kernel = graph_.kernels[KernelId(k)];
  const std::uint32_t gpu = kernel.gpu.value;
  KernelState& state = kernels_[k];
  state.flags_seen = true;
  for (std::uint32_t w = 0; state.lingering > 0 && w < gpus_[gpu].workers.size(); ++w) {
    const Worker& worker = gpus_[gpu].workers[w];
    if (worker.kernel != k || worker.phase != Phase::linger) continue;
    accounts_.waited(gpu, Wait::flag, now_ - worker.since);
    if (recorder_) recorder_->waited(now_, where(gpu, w), worker.since, Wait::flag);
    state.lingering -= 1;
    state.retired += 1;
    release_place(gpu, w);
  }
  finish_if_done(k);
}

void Simulator::finish_if_done(std::uint32_t k) {
  KernelState& state = kernels_[k];
  const bool started = state.grid > 0;  // its flags may all come before it starts
  if (!started || state.finished || !state.flags_seen || state.retired < state.grid) return;
  state.finished = true;
  kernels_left_ -= 1;
  spans_[k].end = now_;
  accounts_.kernel_ended(now_, graph_.kernels[KernelId(k)], spans_[k].start);
  const LatchId ended = graph_.kernels[KernelId(k)].ended;
  if (!ended.is_none()) count_down(ended, Seen::loaded);
  // A kernel that ends has seen all its flags, and flags come after their data. In a window, other
  // nodes may still have to catch up with this one.
  if (kernels_left_ == 0 && !windows_) SIM_ASSERT(transport_.in_flight() == 0);
  for (std::uint32_t i = dependents_begin_[k]; i < dependents_begin_[k + 1]; ++i) {
    const std::uint32_t next = dependents_[i];
    SIM_ASSERT(kernels_[next].dependencies_left > 0);
    if (--kernels_[next].dependencies_left == 0) {
      const Kernel& kernel = graph_.kernels[KernelId(next)];
      const SimTime release = SimTime{} + kernel.release;
      if (now_ >= release) spans_[next].released_by = KernelId(k);
      schedule(later(now_, release) + kernel.launch, EventKind::kernel_start, next);
    }
  }
}

}  // namespace weft
