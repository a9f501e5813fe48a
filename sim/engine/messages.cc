// Messages: into the network, along it, and the flags that their arrival sets.

#include "sim/core/assert.h"
#include "sim/engine/simulator.h"

namespace weft {

Posted Simulator::post(std::uint32_t gpu, std::uint32_t send_index) {
  return post(gpu, send_index, Part::all, bytes(graph_.sends[send_index].size));
}

// Puts `size` of a send into the network. A send in parts is one message in the accounts.
Posted Simulator::post(std::uint32_t gpu, std::uint32_t send_index, Part part, Bytes size) {
  const Send& send = graph_.sends[send_index];
  const Posted posted = transport_.post(now_, {.tag = send_index,
                                               .from_gpu = gpu,
                                               .to_gpu = send.to,
                                               .size = size,
                                               .entries = send.entries,
                                               .more_follows = part == Part::first});
  if (!posted.wake.link.is_none()) {
    schedule(posted.wake.at, EventKind::link, posted.wake.link.value);
  }
  accounts_.bytes_posted(gpu, send.op, size);
  if (part != Part::first) accounts_.message_posted(send.op);
  const bool inside = transport_.same_node(gpu, send.to);
  if (!inside && size > cluster_.spec.nic->inline_up_to) background(gpu, posted.link, size, 1);
  if (posted.on_last_link) background(send.to, posted.link, size, send.receive_traffic);
  return posted;
}

void Simulator::link_event(LinkId link) {
  const Arrived arrived = transport_.arrive(now_, link);
  for (const Wake& wake : arrived.wakes) {
    if (!wake.link.is_none()) schedule(wake.at, EventKind::link, wake.link.value);
  }
  if (arrived.enters_last_link) {
    const Send& send = graph_.sends[arrived.tag];
    background(send.to, arrived.last_link, arrived.size, send.receive_traffic);
  }
  if (arrived.delivered != Arrived::kNotDelivered) delivered(arrived.delivered);
}

void Simulator::delivered(std::uint32_t send_index) {
  const Send& send = graph_.sends[send_index];
  accounts_.message_delivered(send.to, bytes(send.size));
  if (!send.arrives.is_none()) count_down(send.arrives);
  const auto fenced = fenced_.find(send_index);
  if (fenced == fenced_.end()) return;
  schedule(now_ + cluster_.spec.gpu.peer_store.fence, EventKind::worker, fenced->second);
  fenced_.erase(fenced);
}

// A link's traffic at one end of it, as load on that GPU's HBM.
void Simulator::background(std::uint32_t gpu, LinkId link, Bytes size, std::uint32_t factor) {
  const Bandwidth rate = transport_.bandwidth(link);
  accounts_.background(gpu, size * factor);
  const bool begins = memory_[gpu].add_background(
      now_, link.value, static_cast<std::uint64_t>(rate.count() / 1000) * factor,
      transfer_time(size, rate));
  if (begins && memory_[gpu].jobs() > 0) mark_memory(gpu);
}

// The proxy is one CPU thread: one operation after another.
void Simulator::hand_to_proxy(std::uint32_t gpu, std::uint32_t send) {
  GpuState& state = gpus_[gpu];
  const Duration each = cluster_.spec.nic->proxy_operation * graph_.sends[send].entries;
  state.proxy_free = later(now_, state.proxy_free) + each;
  const bool idle = state.proxy_next == state.proxy.size();
  if (idle) {
    state.proxy.clear();
    state.proxy_next = 0;
  }
  state.proxy.push_back({.send = send, .done = state.proxy_free});
  if (idle) schedule(state.proxy_free, EventKind::proxy, gpu);
}

void Simulator::proxy_event(std::uint32_t gpu) {
  GpuState& state = gpus_[gpu];
  SIM_ASSERT(state.proxy[state.proxy_next].done == now_);
  const Posted posted = post(gpu, state.proxy[state.proxy_next].send);
  state.proxy_next += 1;
  if (state.proxy_next == state.proxy.size()) {
    state.proxy_free = later(state.proxy_free, posted.queued_at);
    return;
  }
  // A full queue holds the thread, and everything behind.
  const Duration held = posted.queued_at - now_;
  if (held.count() > 0) {
    for (std::size_t i = state.proxy_next; i < state.proxy.size(); ++i) state.proxy[i].done += held;
    state.proxy_free += held;
  }
  schedule(state.proxy[state.proxy_next].done, EventKind::proxy, gpu);
}

// True when the latch opens.
bool Simulator::count_down(LatchId id) {
  LatchState& latch = latches_[id];
  SIM_ASSERT(latch.left > 0);
  if (--latch.left > 0) return false;
  if (latch.waiter != kNone) wake_waiters(latch);
  return true;
}

// Whoever waits polls: it sees the flag a little later.
void Simulator::wake_waiters(LatchState& latch) {
  const SimTime seen = now_ + cluster_.spec.gpu.peer_store.flag;
  std::uint32_t waiter = latch.waiter;
  latch.waiter = kNone;
  if ((waiter & kKernelBit) != 0) {
    schedule(seen, EventKind::kernel_flags, waiter & ~kKernelBit);
    return;
  }
  while (waiter != kNone) {
    Spare& spare = gpus_[waiter / worker_stride_].spares[waiter % worker_stride_];
    schedule(seen, EventKind::worker, waiter);
    waiter = spare.next_waiter;
    spare.next_waiter = kNone;
  }
}

}  // namespace weft
