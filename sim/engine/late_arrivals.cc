// Links that bring messages faster than a memory can take them in, or than the memory from which
// they are read can supply them. Links have room for all of it; a message that has come all the way
// counts as arrived only when it is written, and when the memory it comes from has supplied it.

#include "sim/engine/simulator.h"

namespace weft {

// How long the message's memories still need for all that they have to move, itself included.
Duration Simulator::memories_behind(const Arrived& arrived) {
  const Send& send = graph_.sends[arrived.tag];
  if (send.in_switch == InSwitch::nothing) {
    const Duration behind = memory_[send.to].behind(now_);
    const std::uint32_t from = sender_of(arrived.tag);
    if (transport_.same_node(from, send.to)) return behind;  // a WG has read it
    return longer(behind, memory_[from].behind(now_));
  }
  const std::vector<std::uint32_t>& group = graph_.groups[send.group];
  if (send.in_switch == InSwitch::multicasts) return memory_[group[arrived.member]].behind(now_);
  Duration behind;
  for (const std::uint32_t member : group) behind = longer(behind, memory_[member].behind(now_));
  return behind;
}

std::uint32_t Simulator::sender_of(std::uint32_t send) {
  if (!senders_.empty()) return senders_[send];
  senders_.resize(graph_.sends.size());
  const auto sends_of = [&](LatchId latch, std::uint32_t gpu, const auto& again) -> void {
    if (latch.is_none()) return;
    const TaskGraph::SendRange its = graph_.sends_of(latch);
    for (std::uint32_t s = its.first; s < its.end(); ++s) {
      senders_[s] = gpu;
      again(graph_.sends[s].issued, gpu, again);
    }
  };
  for (const Kernel& kernel : graph_.kernels) {
    graph_.for_each_run(kernel, [&](const Item& item, std::uint32_t) {
      sends_of(item.counts_down, kernel.gpu.value, sends_of);
    });
  }
  return senders_[send];
}

void Simulator::hold(const Arrived& arrived, Duration time) {
  std::uint32_t index = 0;
  if (free_held_.empty()) {
    index = static_cast<std::uint32_t>(held_.size());
    held_.push_back(arrived);
  } else {
    index = free_held_.back();
    free_held_.pop_back();
    held_[index] = arrived;
  }
  schedule(now_ + time, EventKind::taken_in, index);
}

void Simulator::taken_in(std::uint32_t held) {
  const Arrived arrived = held_[held];
  free_held_.push_back(held);
  end_message(arrived);
}

}  // namespace weft
