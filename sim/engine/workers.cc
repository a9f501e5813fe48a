// The life of a WG: take an item, wait for its latch, work, count down, send, repeat.

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/engine/simulator.h"

namespace weft {
namespace {

// One of the equal parts in which an item does its work, rounded up.
Duration part_of(Duration alone, std::uint32_t scale, std::uint32_t shares) {
  const std::int64_t all = scaled(alone.count(), scale);
  return picoseconds((all + shares - 1) / shares);
}

}  // namespace

// Runs a worker until it has to wait for something. Each step returns whether it continues at once.
void Simulator::run_worker(std::uint32_t gpu, std::uint32_t w) {
  for (bool goes_on = true; goes_on;) {
    switch (gpus_[gpu].workers[w].phase) {
      case Phase::take_item:
        goes_on = take_item(gpu, w);
        break;
      case Phase::begin:
        goes_on = begin_item(gpu, w);
        break;
      case Phase::work:
        goes_on = start_work(gpu, w);
        break;
      case Phase::done:
        goes_on = finish_item(gpu, w);
        break;
      case Phase::made:
        end_item(gpu, w);
        break;
      case Phase::send:
        goes_on = send_next(gpu, w);
        break;
      case Phase::share:
        goes_on = store_share(gpu, w);
        break;
      case Phase::store:
        goes_on = store(gpu, w);
        break;
      case Phase::put:
        goes_on = put(gpu, w);
        break;
      case Phase::sent:
        sent(gpu, w);
        break;
      case Phase::idle:
      case Phase::linger:
        SIM_ASSERT(false);
    }
  }
}

void Simulator::pause(std::uint32_t gpu, std::uint32_t w, SimTime until, Wait why) {
  Worker& worker = gpus_[gpu].workers[w];
  worker.waits = true;
  worker.waiting_for = why;
  worker.since = now_;
  schedule(until, EventKind::worker, worker_id(gpu, w));
}

void Simulator::resume(std::uint32_t gpu, std::uint32_t w) {
  Worker& worker = gpus_[gpu].workers[w];
  if (worker.waits) {
    worker.waits = false;
    accounts_.waited(gpu, worker.waiting_for, now_ - worker.since);
    if (recorder_) recorder_->waited(now_, where(gpu, w), worker.since, worker.waiting_for);
  }
  run_worker(gpu, w);
}

bool Simulator::take_item(std::uint32_t gpu, std::uint32_t w) {
  Worker& worker = gpus_[gpu].workers[w];
  const Kernel& kernel = graph_.kernels[KernelId(worker.kernel)];
  KernelState& state = kernels_[worker.kernel];
  std::uint32_t index = 0;
  if (!kernel.persistent) {
    // Every WG of the grid is one item.
    std::uint32_t& next = worker.next_static;
    index = next;
    next = kernel.items;
  } else if (kernel.work_list == WorkList::dynamic_list) {
    index = state.next_item;
    if (index < kernel.items) ++state.next_item;
  } else {
    std::uint32_t& next = worker.next_static;
    const bool from_counter = kernel.work_list == WorkList::first_static && next >= state.grid;
    index = from_counter ? state.grid + state.next_item : next;
    if (from_counter && index < kernel.items) ++state.next_item;
    next += state.grid;
  }
  if (index >= kernel.items) {
    out_of_items(gpu, w);
    return false;
  }
  worker.item = index;
  const Item& item = graph_.item(kernel, index);
  worker.counts_down = item.counts_down;
  worker.scale = item.scale;
  worker.work = item.work;
  worker.phase = Phase::begin;
  const LatchId latch = item.waits_for;
  if (latch.is_none()) return true;
  if (latches_[latch.value].is_open()) return sees(gpu, w, latch);
  worker.waits = true;
  worker.waiting_for = Wait::flag;
  worker.since = now_;
  const std::uint32_t before = latches_[latch.value].waiter();
  SIM_ASSERT(before == LatchState::kNobody || (before & kKernelBit) == 0);
  worker.next_waiter = before;
  latches_[latch.value].await(worker_id(gpu, w));
  return false;
}

// In a collective, a step's data may arrive before its channel waits: waits for the rest of `flag`.
bool Simulator::sees(std::uint32_t gpu, std::uint32_t w, LatchId latch) {
  Worker& worker = gpus_[gpu].workers[w];
  const Kernel& kernel = graph_.kernels[KernelId(worker.kernel)];
  if (!steps_by_flags(kernel)) return true;
  const SimTime seen = latches_[latch.value].opened() + kernel.flag;
  if (seen <= now_) return true;
  worker.waits = true;
  worker.waiting_for = Wait::flag;
  worker.since = now_;
  schedule(seen, EventKind::worker, worker_id(gpu, w));
  return false;
}

bool Simulator::begin_item(std::uint32_t gpu, std::uint32_t w) {
  Worker& worker = gpus_[gpu].workers[w];
  worker.begun = now_;
  worker.share = 0;
  worker.phase = Phase::work;
  const Kernel& kernel = graph_.kernels[KernelId(worker.kernel)];
  accounts_.item_begun(now_, kernel, worker.cu);
  if (recorder_) recorder_->work_begins(now_, where(gpu, w));
  const Work& work = graph_.works[kind_of_work(worker)];
  if (work.fixed.count() == 0) return true;
  schedule(now_ + work.fixed, EventKind::worker, worker_id(gpu, w));
  return false;
}

bool Simulator::start_work(std::uint32_t gpu, std::uint32_t w) {
  Worker& worker = gpus_[gpu].workers[w];
  const Kernel& kernel = graph_.kernels[KernelId(worker.kernel)];
  const std::uint32_t kind = kind_of_work(worker);
  const Work& work = graph_.works[kind];
  worker.phase = Phase::done;
  if (clock_.falls()) matrix_now_[gpu] += matrix_share_[kind];
  if (alone_[kind].count() > 0) {
    worker.parts += 1;
    Duration alone = part_of(alone_[kind], worker.scale, work.shares);
    std::uint32_t demand = demand_[kind];
    if (clock_.falls()) slow_down(gpu, kernel, alone, demand);
    memory_[gpu].add(now_, w, alone, demand);
    if (recorder_) recorder_->memory_job(gpu, demand, alone);
    mark_memory(gpu);
  }
  if (work.arithmetic_alone.count() > 0) {
    worker.parts += 1;
    const std::uint32_t cu = gpu * cus_[gpu].cus() + worker.cu;
    arithmetic_[cu].add(now_, w, part_of(work.arithmetic_alone, worker.scale, work.shares),
                        work.arithmetic_share);
    mark_arithmetic(cu);
  }
  return worker.parts == 0;
}

// A channel beside arithmetic that holds the clock down. A step is short, so it has the clock of
// its beginning.
void Simulator::slow_down(std::uint32_t gpu, const Kernel& kernel, Duration& alone,
                          std::uint32_t& demand) const {
  if (kernel.role != KernelRole::collective || kernel.executor != Executor::cu) return;
  const std::uint32_t stretch = clock_.at(matrix_before_[gpu]);
  alone = picoseconds(scaled(alone.count(), stretch));
  demand = static_cast<std::uint32_t>((std::uint64_t{demand} << ClockBeside::kUnitBits) / stretch);
}

void Simulator::part_done(std::uint32_t gpu, std::uint32_t w) {
  Worker& worker = gpus_[gpu].workers[w];
  SIM_ASSERT(worker.parts > 0);
  if (--worker.parts == 0) run_worker(gpu, w);
}

bool Simulator::finish_item(std::uint32_t gpu, std::uint32_t w) {
  Worker& worker = gpus_[gpu].workers[w];
  const Kernel& kernel = graph_.kernels[KernelId(worker.kernel)];
  const std::uint32_t kind = kind_of_work(worker);
  const Work& work = graph_.works[kind];
  if (clock_.falls()) matrix_now_[gpu] -= matrix_share_[kind];
  if (worker.share + 1U < work.shares) {
    worker.phase = Phase::share;
    return true;
  }
  accounts_.item_ended(now_, kernel, worker.cu, worker.begun, work, worker.scale);
  if (recorder_) recorder_->work_stops(now_, where(gpu, w), worker.item);
  if (work.fenced && !fences_.empty()) [[unlikely]] {
    worker.phase = Phase::made;
    return fence(gpu, w);
  }
  end_item(gpu, w);
  return true;
}

// Its work is done, and fenced where need be: the last item of a latch sends.
void Simulator::end_item(std::uint32_t gpu, std::uint32_t w) {
  Worker& worker = gpus_[gpu].workers[w];
  worker.phase = Phase::take_item;
  if (worker.counts_down.is_none() || !count_down(worker.counts_down)) return;
  const TaskGraph::SendRange sends = graph_.sends_of(worker.counts_down);
  worker.send = sends.first;
  worker.sends = static_cast<std::uint16_t>(sends.count);
  worker.phase = Phase::send;
}

// The next of the sends of an open latch; after the last one, those of the latch around it.
bool Simulator::send_next(std::uint32_t gpu, std::uint32_t w) {
  Worker& worker = gpus_[gpu].workers[w];
  if (worker.sends == 0) {
    worker.phase = Phase::take_item;
    if (worker.nested) {
      worker.nested = false;
      worker.send = worker.outer_send;
      worker.sends = worker.outer_sends;
      worker.phase = Phase::send;
    }
    return true;
  }
  const Send& send = graph_.sends[worker.send];
  if (transport_.same_node(gpu, send.to)) return begin_store(gpu, w, send);
  const Kernel& kernel = graph_.kernels[KernelId(worker.kernel)];
  // What the NIC reads must be out of the caches, whoever rings the doorbell. A collective's copy
  // loop writes through: its rate includes that.
  const NicSpec& nic = *cluster_.spec.nic;
  const bool by_gpu = kernel.puts_by == InitiatedBy::gpu;
  Duration before;
  if (kernel.role != KernelRole::collective) before += nic.flush;
  if (by_gpu) before += nic.post * send.entries;
  worker.phase = Phase::put;
  if (before.count() == 0) return true;
  pause(gpu, w, now_ + before, Wait::post);
  return false;
}

// How much of a send of this size a worker stores next; the last share takes what is left. Only an
// item's own result is stored in shares, not the flag of a latch that follows.
Bytes Simulator::share_of(const Worker& worker, Bytes size) const {
  if (worker.nested) return size;
  const std::uint32_t shares = graph_.works[kind_of_work(worker)].shares;
  const Bytes each = bytes(size.count() / shares);
  return worker.share + 1U < shares ? each : size - each * (shares - 1);
}

// A part of the item is done: it is stored, and the work continues. Stores are posted; the next
// ones wait until these have left.
bool Simulator::store_share(std::uint32_t gpu, std::uint32_t w) {
  Worker& worker = gpus_[gpu].workers[w];
  SimTime& store_free = stores_of(gpu, w).free;
  const Kernel& kernel = graph_.kernels[KernelId(worker.kernel)];
  if (store_free > now_) {
    accounts_.item_paused(now_, kernel, worker.cu);
    if (recorder_) recorder_->work_stops(now_, where(gpu, w), worker.item);
    worker.paused = true;
    pause(gpu, w, store_free, Wait::store);
    return false;
  }
  if (worker.paused) {
    worker.paused = false;
    accounts_.item_resumed(now_, kernel, worker.cu);
    if (recorder_) recorder_->work_begins(now_, where(gpu, w));
    worker.begun += now_ - worker.since;
  }
  const std::uint32_t send = graph_.latches.first_send(worker.counts_down);
  const Bytes size = share_of(worker, bytes(graph_.sends[send].size));
  const Bandwidth rate = kernel.store_rate;
  store_free = post(gpu, send, Part::first, size).accepted_at;
  if (rate.count() > 0) store_free = later(store_free, now_ + transfer_time(size, rate));
  worker.share += 1;
  worker.phase = Phase::work;
  return true;
}

Simulator::Stores& Simulator::stores_of(std::uint32_t gpu, std::uint32_t w) {
  GpuState& state = gpus_[gpu];
  if (state.stores.empty()) state.stores.resize(state.workers.size());
  return state.stores[w];
}

// Stores into a peer on the same node. A WG has a bounded number outstanding, so it stores at a
// rate of its own; the link carries them at its rate, so the message enters it later by the
// difference.
bool Simulator::begin_store(std::uint32_t gpu, std::uint32_t w, const Send& send) {
  Worker& worker = gpus_[gpu].workers[w];
  // A load: its request takes the latency to the others but no bandwidth, and waits for no stores.
  if (send.in_switch == InSwitch::reduces) [[unlikely]] {
    worker.phase = Phase::store;
    const LinkId up = transport_.scale_up_link(gpu);
    pause(gpu, w, now_ + transport_.latency(up) * 2, Wait::store);
    return false;
  }
  const SimTime store_free = stores_of(gpu, w).free;
  // The stores before have not left yet: come back when they have. A copy engine's writes to
  // several peers leave together.
  const bool together =
      worker.cu == kNone && worker.send != graph_.latches.first_send(worker.counts_down);
  if (store_free > now_ && !together) {
    pause(gpu, w, store_free, Wait::store);
    return false;
  }
  worker.phase = Phase::store;
  const Bandwidth rate = graph_.kernels[KernelId(worker.kernel)].store_rate;
  if (rate.count() == 0) return true;
  const Bytes size = share_of(worker, bytes(send.size));
  const Duration stores = transfer_time(size, rate);
  const LinkId link = send.in_switch == InSwitch::multicasts
                          ? transport_.scale_up_link(gpu)
                          : transport_.first_inside({.tag = worker.send,
                                                     .from_gpu = gpu,
                                                     .to_gpu = send.to,
                                                     .size = size,
                                                     .ordered = send.ordered != 0});
  const Duration on_link = transfer_time(size, transport_.bandwidth(link));
  if (stores <= on_link) return true;
  pause(gpu, w, now_ + (stores - on_link), Wait::store);
  return false;
}

// Fenced: the WG continues when its fence has ended. Otherwise it continues at once, but its next
// store waits until these have left.
bool Simulator::store(std::uint32_t gpu, std::uint32_t w) {
  Worker& worker = gpus_[gpu].workers[w];
  const Bytes size = share_of(worker, bytes(graph_.sends[worker.send].size));
  if (recorder_) recorder_->posted(now_, where(gpu, w), worker.send);
  const SimTime left = post(gpu, worker.send, Part::last, size).accepted_at;
  worker.phase = Phase::sent;
  // After a flag (nested) comes nothing that would wait, and a load has its own latch. One fence
  // for all stores of a latch.
  const bool loads = graph_.sends[worker.send].in_switch == InSwitch::reduces;
  const bool fenced = graph_.kernels[KernelId(worker.kernel)].fenced && !worker.nested && !loads;
  if (fenced) awaits_arrival(gpu, w);
  if (fenced && worker.sends == 1) return fence(gpu, w);
  SimTime& store_free = stores_of(gpu, w).free;
  store_free = later(store_free, left);
  return true;
}

// The queue entry is written and the doorbell rung: the NIC has it as soon as its queue has room.
// Or the proxy has been told.
bool Simulator::put(std::uint32_t gpu, std::uint32_t w) {
  Worker& worker = gpus_[gpu].workers[w];
  worker.phase = Phase::sent;
  if (recorder_) recorder_->posted(now_, where(gpu, w), worker.send);
  const Kernel& kernel = graph_.kernels[KernelId(worker.kernel)];
  if (kernel.puts_by == InitiatedBy::proxy) {
    hand_to_proxy(gpu, worker.send, kernel.handover);
    return true;
  }
  const SimTime queued_at = post(gpu, worker.send).queued_at;
  if (queued_at == now_) return true;
  pause(gpu, w, queued_at, Wait::nic_queue);
  return false;
}

// The sender's side of a send is done. If that opens a latch (all slices for a peer are out), its
// sends come first: the flag.
void Simulator::sent(std::uint32_t gpu, std::uint32_t w) {
  Worker& worker = gpus_[gpu].workers[w];
  const LatchId issued = graph_.sends[worker.send].issued;
  worker.send += 1;
  worker.sends -= 1;
  worker.phase = Phase::send;
  if (issued.is_none() || !count_down(issued)) return;
  const TaskGraph::SendRange sends = graph_.sends_of(issued);
  if (sends.count == 0) return;
  SIM_ASSERT(!worker.nested);  // one level
  worker.nested = true;
  worker.outer_send = worker.send;
  worker.outer_sends = worker.sends;
  worker.send = sends.first;
  worker.sends = static_cast<std::uint16_t>(sends.count);
}

}  // namespace weft
