// Messages: into the network, along it, and the flags that their arrival sets.

#include "sim/core/assert.h"
#include "sim/core/round_up.h"
#include "sim/engine/simulator.h"

namespace weft {

Posted Simulator::post(std::uint32_t gpu, std::uint32_t send_index) {
  return post(gpu, send_index, Part::last, bytes(graph_.sends[send_index].size));
}

// Puts `size` of a send into the network. A send in parts is one message in the accounts.
Posted Simulator::post(std::uint32_t gpu, std::uint32_t send_index, Part part, Bytes size) {
  const Send& send = graph_.sends[send_index];
  if (send.in_switch != InSwitch::nothing) [[unlikely]] {
    return post_in_switch(gpu, send_index, part, size);
  }
  const bool inside = transport_.same_node(gpu, send.to);
  const bool tells_latch = nics_tell_latches_ && !inside;
  const Posted posted = transport_.post(now_, {.tag = tells_latch ? send.arrives.value : send_index,
                                               .number = send_index,
                                               .traffic = send.receive_traffic,
                                               .from_gpu = gpu,
                                               .to_gpu = send.to,
                                               .size = size,
                                               .entries = send.entries,
                                               .ordered = send.ordered != 0,
                                               .more_follows = part == Part::first,
                                               .from_engine = send.from_engine != 0});
  if (!posted.wake.link.is_none()) {
    schedule(posted.wake.at, EventKind::link, posted.wake.link.value);
  }
  accounts_.bytes_posted(gpu, send.op, size);
  if (part != Part::first) accounts_.message_posted(send.op);
  if (!inside && size > cluster_.spec.nic->inline_up_to) background(gpu, posted.link, size, 1);
  if (posted.on_last_link) background(send.to, posted.link, size, send.receive_traffic);
  return posted;
}

// What the switch adds up is read by the links from the HBM of each GPU of the group; what it
// copies is sent by one. Each copy is a message that has to be delivered, and so is a sum.
Posted Simulator::post_in_switch(std::uint32_t gpu, std::uint32_t send_index, Part part,
                                 Bytes size) {
  const Send& send = graph_.sends[send_index];
  const std::vector<std::uint32_t>& group = graph_.groups[send.group];
  const bool copies = send.in_switch == InSwitch::multicasts;
  const Posted posted = transport_.post_in_switch(now_, {.tag = send_index,
                                                         .gpu = gpu,
                                                         .op = send.in_switch,
                                                         .size = size,
                                                         .more_follows = part == Part::first,
                                                         .group = group});
  for (const Fanned& part_of_it : transport_.fan()) {
    const Wake& wake = part_of_it.wake;
    if (!wake.link.is_none()) schedule(wake.at, EventKind::link, wake.link.value);
  }
  const auto deliveries = static_cast<std::uint32_t>(copies ? group.size() : 1);
  if (part != Part::first) accounts_.message_posted(send.op, deliveries);
  accounts_.bytes_to_deliver(size * deliveries);
  if (copies) {
    accounts_.bytes_sent(gpu, send.op, size);
    return posted;
  }
  for (const std::uint32_t member : group) {
    accounts_.bytes_sent(member, send.op, size);
    background(member, transport_.scale_up_link(member), size, 1);
  }
  return posted;
}

void Simulator::link_event(LinkId link) {
  const Arrived arrived = transport_.arrive(now_, link);
  for (const Wake& wake : arrived.wakes) {
    if (!wake.link.is_none()) schedule(wake.at, EventKind::link, wake.link.value);
  }
  if (arrived.fanned) [[unlikely]]
    fan_out(arrived);
  if (arrived.enters_last_link && arrived.by_nic) {
    background(arrived.gpu, arrived.last_link, arrived.size, arrived.traffic);
  } else if (arrived.enters_last_link) {
    const Send& send = graph_.sends[arrived.tag];
    background(send.to, arrived.last_link, arrived.size, send.receive_traffic);
  }
  if (!arrived.ended) return;
  // Of shares, nothing counts from then on.
  if (memories_can_fall_behind_ && !windows_) [[unlikely]] {
    const Duration behind = memories_behind(arrived);
    if (behind.count() > 0) return hold(arrived, behind);
  }
  end_message(arrived);
}

void Simulator::end_message(const Arrived& arrived) {
  if (arrived.by_nic && nics_tell_latches_) {
    accounts_.bytes_delivered(arrived.gpu, arrived.size);
    if (!arrived.delivered) return;
    accounts_.message_delivered();
    const LatchId latch(arrived.tag);
    if (!latch.is_none()) count_down(latch);
    return;
  }
  const Send& send = graph_.sends[arrived.tag];
  const bool copy = send.in_switch == InSwitch::multicasts;
  const std::uint32_t gpu = copy ? graph_.groups[send.group][arrived.member] : send.to;
  accounts_.bytes_delivered(gpu, arrived.size);
  if (!arrived.delivered) return;
  const bool one_of_several = copy && !send.arrives.is_none();
  const LatchId arrives =
      one_of_several ? LatchId(send.arrives.value + arrived.member) : send.arrives;
  const bool load = send.in_switch == InSwitch::reduces;
  delivered(arrived.tag, gpu, arrives, load ? Seen::loaded : Seen::polled);
}

// Copies that have left the switch.
void Simulator::fan_out(const Arrived& arrived) {
  for (const Fanned& copy : transport_.fan()) {
    if (!copy.wake.link.is_none()) {
      schedule(copy.wake.at, EventKind::link, copy.wake.link.value);
    }
    background(copy.gpu, copy.link, arrived.size, graph_.sends[arrived.tag].receive_traffic);
  }
}

// All of a send has arrived at a GPU.
void Simulator::delivered(std::uint32_t send_index, std::uint32_t gpu, LatchId arrives, Seen seen) {
  accounts_.message_delivered();
  if (recorder_) recorder_->arrived(now_, send_index, gpu);
  if (!arrives.is_none()) count_down(arrives, seen);
  if (fenced_.empty()) return;
  const auto fenced = fenced_.find(send_index);
  if (fenced == fenced_.end()) return;
  if (--fenced->second.copies > 0) return;
  const std::uint32_t worker = fenced->second.worker;
  fenced_.erase(fenced);
  store_arrived(worker);
}

// The traffic of a link as load on the HBM of the GPU at one end of it.
void Simulator::background(std::uint32_t gpu, LinkId link, Bytes size, std::uint32_t factor) {
  if (factor == 0) return;
  const Bandwidth rate = transport_.bandwidth(link);
  accounts_.background(gpu, size * factor);
  SharedServer& memory = memory_[gpu];
  const bool begins = memory.add_background(
      now_, link.value, static_cast<std::uint64_t>(round_up(rate.count(), kRateUnit)) * factor,
      transfer_time(size, rate));
  if (memory.can_fall_behind()) [[unlikely]]
    memories_can_fall_behind_ = true;
  if (begins && memory.jobs() > 0) mark_memory(gpu);
}

// The proxy is one CPU thread per GPU: one operation after another, `proxy_operation` per entry.
void Simulator::hand_to_proxy(std::uint32_t gpu, std::uint32_t send, Duration handover) {
  GpuState& state = gpus_[gpu];
  const bool idle = state.proxy.empty();
  state.proxy.push({.send = send, .seen = now_ + handover});
  if (idle) start_proxy(gpu);
}

void Simulator::start_proxy(std::uint32_t gpu) {
  const GpuState& state = gpus_[gpu];
  const GpuState::HandedOver& next = state.proxy.front();
  const Duration operations = cluster_.spec.nic->proxy_operation * graph_.sends[next.send].entries;
  accounts_.proxied(gpu, operations);
  schedule(later(next.seen, state.proxy_free) + operations, EventKind::proxy, gpu);
}

// A full queue holds up the thread, and with it all operations that follow.
void Simulator::proxy_event(std::uint32_t gpu) {
  GpuState& state = gpus_[gpu];
  state.proxy_free = post(gpu, state.proxy.pop().send).queued_at;
  if (!state.proxy.empty()) start_proxy(gpu);
}

// True when the latch opens.
bool Simulator::count_down(LatchId id, Seen seen) {
  LatchState& latch = latches_[id.value];
  if (!latch.count_down()) return false;
  const std::uint32_t waiter = latch.waiter();
  latch.open(seen == Seen::polled ? now_ : SimTime{});
  if (waiter != LatchState::kNobody) wake(waiter, seen);
  return true;
}

// Waiters poll: they see a flag a little later, but the data of their own load at once.
void Simulator::wake(std::uint32_t waiter, Seen seen) {
  if ((waiter & kKernelBit) != 0) {
    const std::uint32_t kernel = waiter & ~kKernelBit;
    schedule(now_ + flag_of(kernel), EventKind::kernel_flags, kernel);
    return;
  }
  while (waiter != kNone) {
    Worker& worker = gpus_[waiter / worker_stride_].workers[waiter % worker_stride_];
    Duration flag;
    if (seen == Seen::polled) flag = flag_of(worker.kernel);
    schedule(now_ + flag, EventKind::worker, waiter);
    waiter = worker.next_waiter;
    worker.next_waiter = kNone;
  }
}

}  // namespace weft
