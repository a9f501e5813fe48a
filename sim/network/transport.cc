#include "sim/network/transport.h"

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/core/rng.h"

namespace weft {

void add(LinkUse& sum, const LinkUse& use) {
  sum.carried += use.carried;
  sum.messages += use.messages;
  add_saturating(sum.busy, use.busy);
  add_saturating(sum.queued, use.queued);
  sum.queued_max = longer(sum.queued_max, use.queued_max);
}

Transport::Transport(const NetworkSpec& spec)
    : gpus_per_node_(static_cast<std::uint32_t>(spec.gpus_per_node)) {
  add_node_fabrics(spec);
  if (spec.nodes > 1) add_network(spec);
  for (const DegradedLink& degraded : spec.degraded) degrade(degraded);
}

void Transport::add_node_fabrics(const NetworkSpec& spec) {
  if (spec.gpus_per_node == 1) return;
  SIM_ASSERT(spec.scale_up.has_value());
  const TopologySpec& topology = *spec.scale_up->topology;
  scale_up_ = topology.build(spec.gpus_per_node);
  reduces_ = topology.sums_on_the_way().can;
  in_switch_bandwidth_ = in_switch_rate(*spec.scale_up);
  engine_bandwidth_ = engine_rate(spec.scale_up->link);
  up_bytes_per_second_ = spec.scale_up->link.bandwidth.count();
  segment_up_ = spec.scale_up->segment;
  route_by_inside_ = topology.route_by();
  for (int node = 0; node < spec.nodes; ++node) add_fabric(*spec.scale_up, *scale_up_, true);
}

void Transport::add_network(const NetworkSpec& spec) {
  SIM_ASSERT(spec.scale_out.has_value());
  SIM_ASSERT(spec.nic.has_value());
  const NicSpec& nic = *spec.nic;
  nics_per_node_ = static_cast<std::uint32_t>(nic.per_node);
  const int nics = spec.nodes * nic.per_node;
  SIM_ASSERT(static_cast<std::uint32_t>(nics) < kToSwitch);
  scale_out_ = spec.scale_out->topology->build(nics);
  segment_out_ = spec.scale_out->segment;
  route_by_ = spec.scale_out->topology->route_by();
  scale_out_base_ = links_.next_id().value;
  add_fabric(*spec.scale_out, *scale_out_, false);
  send_base_ = links_.next_id().value;
  for (int i = 0; i < nics; ++i) {
    Link port;
    port.bytes_per_second = nic.bandwidth.count();
    port.latency = nic.latency;
    port.interval = nic.message_interval;
    port.to = static_cast<std::uint32_t>(i);
    port.base = scale_out_base_;
    port.role = LinkRole::nic_send;
    links_.push_back(std::move(port));
  }
  receive_base_ = links_.next_id().value;
  for (int i = 0; i < nics; ++i) {
    Link port;
    port.bytes_per_second = nic.bandwidth.count();
    port.latency = nic.receive;
    port.to = static_cast<std::uint32_t>(i);
    port.role = LinkRole::nic_receive;
    links_.push_back(std::move(port));
  }
  queue_depth_ = static_cast<std::size_t>(nic.queue_depth);
  departures_.resize(static_cast<std::size_t>(nics));
}

// The two links around a ring of two have the same name: both are degraded.
void Transport::degrade(const DegradedLink& degraded) {
  for (std::uint32_t i = 0; i < links_.size(); ++i) {
    const LinkId id(i);
    if (name(id) != degraded.link) continue;
    links_[id].bytes_per_second = fraction_of(bandwidth(id), degraded.bandwidth).count();
  }
}

// A rate of the scale-up fabric, as it is on this link of it.
Bandwidth Transport::on(const Link& link, Bandwidth rate) const {
  const Bandwidth whole = bytes_per_second(up_bytes_per_second_);
  const Bandwidth own = bytes_per_second(link.bytes_per_second);
  if (own == whole) return rate;
  return fraction_of(rate, static_cast<double>(own.count()) / static_cast<double>(whole.count()));
}

void Transport::add_fabric(const FabricSpec& spec, const Shape& shape, bool is_scale_up) {
  const std::uint32_t base = links_.next_id().value;
  for (const ShapeLink& edge : shape.links()) {
    Link link;
    link.bytes_per_second = spec.link.bandwidth.count();
    link.latency = spec.link.latency;
    link.to = edge.to;
    link.base = base;
    link.is_scale_up = is_scale_up;
    links_.push_back(std::move(link));
  }
}

std::uint32_t Transport::nic_of(std::uint32_t gpu, std::uint64_t lane) const {
  const std::uint32_t node = gpu / gpus_per_node_;
  const std::uint32_t local = gpu % gpus_per_node_;
  if (nics_per_node_ <= gpus_per_node_) {
    return node * nics_per_node_ + local * nics_per_node_ / gpus_per_node_;
  }
  const std::uint32_t each = nics_per_node_ / gpus_per_node_;
  return node * nics_per_node_ + local * each + static_cast<std::uint32_t>(lane % each);
}

std::uint32_t Transport::route_hash(RouteBy routing, std::uint32_t from, std::uint32_t to,
                                    std::uint64_t lane) {
  switch (routing) {
    case RouteBy::destination:
      return 0;
    case RouteBy::pair:
      return static_cast<std::uint32_t>(mix64((std::uint64_t{from} << 32U) | to));
    case RouteBy::message:
      return static_cast<std::uint32_t>(mix64(lane));
  }
  SIM_ASSERT(false);
}

std::uint64_t Transport::lane(const Outgoing& message) {
  if (!message.ordered) return message.number == Outgoing::kTag ? message.tag : message.number;
  return mix64((std::uint64_t{message.from_gpu} << 32U) | message.to_gpu);
}

// When `entries` more fit into the NIC's send queue: when as many as are too many have departed.
SimTime Transport::room_in_queue(SimTime now, std::uint32_t nic, std::size_t entries) {
  RingQueue<SimTime>& queue = departures_[nic];
  while (!queue.empty() && queue.front() <= now) queue.pop();
  if (queue.empty()) return now;
  if (queue.size() + entries <= queue_depth_) return now;
  const std::size_t too_many = queue.size() + entries - queue_depth_;
  // Entries that are more than the whole queue holds go when it is empty.
  return queue.at(std::min(too_many, queue.size()) - 1);
}

std::uint32_t Transport::hash_inside(const Outgoing& message) const {
  return route_hash(route_by_inside_, message.from_gpu % gpus_per_node_,
                    message.to_gpu % gpus_per_node_, lane(message));
}

LinkId Transport::first_inside(const Outgoing& message) const {
  const std::uint32_t node = message.from_gpu / gpus_per_node_;
  return LinkId(node * static_cast<std::uint32_t>(scale_up_->links().size()) +
                scale_up_->next(message.from_gpu % gpus_per_node_, message.to_gpu % gpus_per_node_,
                                hash_inside(message)));
}

[[gnu::flatten]] Posted Transport::post(SimTime now, const Outgoing& out) {
  SIM_ASSERT(out.from_gpu != out.to_gpu);
  SIM_ASSERT(out.size.count() > 0);
  const bool inside = same_node(out.from_gpu, out.to_gpu);
  const std::uint64_t which = lane(out);
  std::uint32_t to = 0;
  std::uint32_t hash = 0;
  LinkId first;
  SimTime queued_at = now;
  std::uint32_t nic = 0;
  if (inside) {
    to = out.to_gpu % gpus_per_node_;
    hash = hash_inside(out);
    first = first_inside(out);
  } else {
    nic = nic_of(out.from_gpu, which);
    to = nic_of(out.to_gpu, which);
    hash = route_hash(route_by_, nic, to, which);
    first = LinkId(send_base_ + nic);
    queued_at = room_in_queue(now, nic, static_cast<std::size_t>(out.entries));
  }

  const std::int64_t piece = (inside ? segment_up_ : segment_out_).count();
  std::int64_t left = out.size.count();
  Posted posted{
      .queued_at = queued_at, .accepted_at = {}, .link = first, .on_last_link = false, .wake = {}};
  int entries = out.entries;
  while (left > 0) {
    const std::int64_t size = piece == 0 ? left : std::min(left, piece);
    SIM_ASSERT(size <= UINT32_MAX);
    left -= size;
    const Message message{.due = {},
                          .lag = {},
                          .tag = out.tag,
                          .to = to & kToSwitch,
                          .traffic = out.traffic & 15U,
                          .from_engine = inside && out.from_engine ? 1U : 0U,
                          .last_segment = left == 0 && !out.more_follows ? 1U : 0U,
                          .size = static_cast<std::uint32_t>(size),
                          .hash = hash};
    const Crossing crossing = cross(queued_at, first, message, entries);
    ++in_flight_;
    if (crossing.wake) posted.wake = {first, crossing.due};
    posted.accepted_at = crossing.until;
    posted.on_last_link = crossing.last;
    entries = 0;  // one entry for all segments
  }
  if (!inside) {
    for (int i = 0; i < out.entries; ++i) departures_[nic].push(posted.accepted_at);
  }
  return posted;
}

Transport::Crossing Transport::cross(SimTime now, LinkId link_id, const Message& message,
                                     int entries) {
  Link& link = links_[link_id];
  const bool engine = message.from_engine != 0;
  if (message.size != link.cached_size || engine != link.cached_engine) {
    link.cached_size = message.size;
    link.cached_engine = engine;
    link.cached_time =
        transfer_time(bytes(message.size), engine ? on(link, engine_bandwidth_)
                                                  : bytes_per_second(link.bytes_per_second));
  }
  return enter(now, link_id, message, entries, link.cached_time);
}

// Queues a message whose head is at the link's start at `now` after those that wait there. It takes
// `time` to pass.
Transport::Crossing Transport::enter(SimTime now, LinkId link_id, const Message& message,
                                     int entries, Duration time) {
  Link& link = links_[link_id];
  Duration busy = time;
  if (link.role == LinkRole::nic_send) busy = longer(busy, link.interval * entries);

  const SimTime start = later(now, link.free_at);
  link.free_at = start + busy;
  SimTime tail = later(start + time, now + message.lag);
  if (link.role == LinkRole::nic_send && entries > 1) {
    tail = later(tail, start + link.interval * (entries - 1));  // the flag is the last entry
  }
  const bool last =
      link.role == LinkRole::nic_receive || (link.is_scale_up && link.to == message.to);
  // A link delivers in order, even if a slow link upstream holds a tail back.
  const SimTime due = later((last ? tail : start) + link.latency, link.last_due);
  link.last_due = due;

  const bool wake = link.queue.empty() && !link.ends_elsewhere;
  if (link.ends_elsewhere) [[unlikely]] {
    handed_over_.push_back({.link = link_id, .message = message});
  } else {
    link.queue.push(message, rings_);
  }
  // Set in its place: a copy of what has just been written in parts would wait for these.
  Message& entered = last_of(link);
  entered.lag = tail - start;
  entered.due = due;

  LinkUse& use = link.use;
  use.carried += bytes(message.size);
  use.messages += 1;
  use.busy += busy;
  const Duration waited = start - now;
  add_saturating(use.queued, waited);
  use.queued_max = longer(use.queued_max, waited);
  return {.until = link.free_at, .due = due, .wake = wake, .last = last};
}

Transport::Message& Transport::last_of(Link& link) {
  return link.ends_elsewhere ? handed_over_.back().message : link.queue.back();
}

// A message that enters a link in use follows those before it without a gap, so the link is in use
// without a break until free_at.
Duration Transport::busy_until(LinkId id, SimTime now) const {
  const Link& link = links_[id];
  return link.free_at > now ? link.use.busy - (link.free_at - now) : link.use.busy;
}

LinkId Transport::onward(const Link& link, const Message& message) const {
  if (link.to == message.to) return LinkId(receive_base_ + message.to);
  const Shape& shape = link.is_scale_up ? *scale_up_ : *scale_out_;
  return LinkId(link.base + shape.next(link.to, message.to, message.hash));
}

// Flattened, as is post(): most of a large run is here, in small functions.
[[gnu::flatten]] Arrived Transport::arrive(SimTime now, LinkId link_id) {
  Link& link = links_[link_id];
  const Message message = link.queue.pop();
  SIM_ASSERT(message.due == now);
  Arrived arrived;
  arrived.tag = message.tag;
  arrived.size = bytes(message.size);
  if (!link.queue.empty()) arrived.wakes[0] = {link_id, link.queue.front().due};

  if (link.role == LinkRole::nic_receive || (link.is_scale_up && link.to == message.to)) {
    arrived.ended = true;
    arrived.delivered = message.last_segment != 0;
    arrived.member = message.hash;
    if (link.role == LinkRole::nic_receive && nics_have_one_gpu()) say_gpu(message, arrived);
    --in_flight_;
    return arrived;
  }
  if (message.to == kToSwitch) [[unlikely]] {
    arrive_at_switch(now, link, message, arrived);
    return arrived;
  }
  const LinkId next = onward(link, message);
  const Crossing crossing = cross(now, next, message, 0);
  if (crossing.wake) arrived.wakes[1] = {next, crossing.due};
  if (crossing.last) {
    arrived.enters_last_link = true;
    arrived.last_link = next;
    if (!link.is_scale_up && nics_have_one_gpu()) say_gpu(message, arrived);
  }
  return arrived;
}

void Transport::say_gpu(const Message& message, Arrived& arrived) const {
  arrived.by_nic = true;
  arrived.traffic = message.traffic;
  arrived.gpu = gpu_of_nic(message.to);
}

bool Transport::can_move(const NetworkSpec& spec, std::uint32_t nodes) {
  if (nodes == 0) return true;
  // If a GPU has several NICs, a hash of both ends chooses among them.
  if (!spec.degraded.empty() || !spec.nic || spec.nic->per_node > spec.gpus_per_node) return false;
  const auto nics = static_cast<std::uint32_t>(spec.nic->per_node);
  return spec.scale_out->topology->can_move(nodes * nics);
}

LinkId Transport::moved(LinkId id, std::uint32_t nodes) const {
  const std::uint32_t i = id.value;
  const std::uint32_t nics = nodes * nics_per_node_;
  if (!scale_out_ || i < scale_out_base_) {
    return LinkId(i + nodes * static_cast<std::uint32_t>(scale_up_->links().size()));
  }
  if (i >= send_base_) return LinkId(i + nics);
  return LinkId(scale_out_base_ + scale_out_->moved(i - scale_out_base_, nics));
}

bool Transport::stands_for_row(const NetworkSpec& spec, std::uint32_t nodes) {
  if (!spec.degraded.empty() || !spec.nic || spec.nic->per_node > spec.gpus_per_node) return false;
  const auto nics = static_cast<std::uint32_t>(spec.nic->per_node);
  return nodes > 1 && spec.scale_out->topology->stands_for_row(nodes * nics);
}

std::vector<LinkId> Transport::represented_by(const Transport& smaller,
                                              const Representatives& which) const {
  const auto inside =
      scale_up_ ? static_cast<std::uint32_t>(scale_up_->links().size()) : std::uint32_t{0};
  std::vector<std::uint32_t> nics;
  for (std::uint32_t nic = 0; nic < links_.size() - receive_base_; ++nic) {
    nics.push_back(which.of_node(nic / nics_per_node_) * nics_per_node_ + nic % nics_per_node_);
  }
  std::vector<LinkId> by;
  for (std::uint32_t i = 0; i < links_.size(); ++i) {
    if (i < scale_out_base_) {
      by.emplace_back(which.of_node(i / inside) * inside + i % inside);
    } else if (i < send_base_) {
      by.emplace_back(smaller.scale_out_base_ +
                      scale_out_->stands_for(i - scale_out_base_, *smaller.scale_out_, nics));
    } else if (i < receive_base_) {
      by.emplace_back(smaller.send_base_ + nics[i - send_base_]);
    } else {
      by.emplace_back(smaller.receive_base_ + nics[i - receive_base_]);
    }
  }
  return by;
}

Bytes Transport::memory(const NetworkSpec& spec) {
  std::int64_t links = 0;
  if (spec.gpus_per_node > 1) {
    links += spec.nodes * spec.scale_up->topology->count_links(spec.gpus_per_node);
  }
  if (spec.nodes > 1) {
    const std::int64_t nics = std::int64_t{spec.nodes} * spec.nic->per_node;
    links += spec.scale_out->topology->count_links(nics) + 2 * nics;
  }
  // The link, the least ring, its row in the results with two names, and its entry in the shape.
  constexpr std::size_t kLeastRing = 4 * sizeof(Message);
  constexpr std::size_t kPerLink = sizeof(Link) + kLeastRing + 200 + sizeof(ShapeLink);
  return bytes(links * static_cast<std::int64_t>(kPerLink));
}

}  // namespace weft
