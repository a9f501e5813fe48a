// Messages that the switch of a node adds up or copies. They are cut-through, like all: the sum
// leaves when the heads of all parts have arrived, and its tail follows the last of their tails.
#include <algorithm>

#include "sim/core/assert.h"
#include "sim/network/transport.h"

namespace weft {

LinkId Transport::scale_up_link(std::uint32_t gpu) const {
  const std::uint32_t node = gpu / gpus_per_node_;
  const std::uint32_t local = gpu % gpus_per_node_;
  return LinkId(node * static_cast<std::uint32_t>(scale_up_->links().size()) +
                scale_up_->next(local, local == 0 ? 1 : 0, 0));
}

std::uint32_t Transport::new_at_switch(const AtSwitch& what) {
  if (free_at_switch_.empty()) {
    at_switch_.push_back(what);
    return static_cast<std::uint32_t>(at_switch_.size() - 1);
  }
  const std::uint32_t index = free_at_switch_.back();
  free_at_switch_.pop_back();
  at_switch_[index] = what;
  return index;
}

Transport::Crossing Transport::cross_in_switch(SimTime now, LinkId link, const Message& message) {
  return enter(now, link, message, 0,
               transfer_time(bytes(message.size), on(links_[link], in_switch_bandwidth_)));
}

Posted Transport::post_in_switch(SimTime now, const OutgoingInSwitch& out) {
  SIM_ASSERT(reduces_);
  SIM_ASSERT(out.size.count() > 0);
  SIM_ASSERT(out.group.size() >= 2);
  const bool copies = out.op == InSwitch::multicasts;
  const std::span<const std::uint32_t> senders =
      copies ? std::span<const std::uint32_t>(&out.gpu, 1) : out.group;
  Posted posted{
      .queued_at = now, .accepted_at = now, .link = {}, .on_last_link = false, .wake = {}};
  fan_.clear();
  const std::int64_t piece = segment_up_.count();
  for (std::int64_t left = out.size.count(); left > 0;) {
    const std::int64_t size = piece == 0 ? left : std::min(left, piece);
    SIM_ASSERT(size <= UINT32_MAX);
    left -= size;
    const std::uint32_t meeting =
        new_at_switch({.group = out.group,
                       .to = copies ? kToSwitch : out.gpu % gpus_per_node_,
                       .left = static_cast<std::uint32_t>(senders.size()),
                       .tail = {}});
    const Message message{.due = {},
                          .lag = {},
                          .tag = out.tag,
                          .to = kToSwitch,
                          .traffic = 0,
                          .from_engine = 0,
                          .last_segment = left == 0 && !out.more_follows ? 1U : 0U,
                          .size = static_cast<std::uint32_t>(size),
                          .hash = meeting};
    for (const std::uint32_t gpu : senders) {
      SIM_ASSERT(same_node(gpu, out.gpu));
      const LinkId up = scale_up_link(gpu);
      const Crossing crossing = cross_in_switch(now, up, message);
      ++in_flight_;
      fan_.push_back(
          {.wake = crossing.wake ? Wake{up, crossing.due} : Wake{}, .link = up, .gpu = gpu});
      if (copies) posted.accepted_at = crossing.until;
    }
  }
  return posted;
}

void Transport::arrive_at_switch(SimTime now, const Link& link, Message message, Arrived& arrived) {
  AtSwitch& meeting = at_switch_[message.hash];
  SIM_ASSERT(meeting.left > 0);
  meeting.tail = later(meeting.tail, now + message.lag);
  if (--meeting.left > 0) {  // this part is now in the sum
    --in_flight_;
    return;
  }
  free_at_switch_.push_back(message.hash);
  if (meeting.to == kToSwitch) return copy_to_all(now, link, message, arrived);
  message.lag = meeting.tail - now;
  message.to = meeting.to & kToSwitch;
  const LinkId down = onward(link, message);
  const Crossing crossing = cross_in_switch(now, down, message);
  if (crossing.wake) arrived.wakes[1] = {down, crossing.due};
  arrived.enters_last_link = true;
  arrived.last_link = down;
}

void Transport::copy_to_all(SimTime now, const Link& link, Message message, Arrived& arrived) {
  const std::span<const std::uint32_t> group = at_switch_[message.hash].group;
  fan_.clear();
  arrived.fanned = true;
  in_flight_ += group.size() - 1;
  for (std::uint32_t member = 0; member < group.size(); ++member) {
    message.to = group[member] % gpus_per_node_ & kToSwitch;
    message.hash = member;
    const LinkId down = onward(link, message);
    const Crossing crossing = cross_in_switch(now, down, message);
    fan_.push_back({.wake = crossing.wake ? Wake{down, crossing.due} : Wake{},
                    .link = down,
                    .gpu = group[member]});
  }
}

}  // namespace weft
