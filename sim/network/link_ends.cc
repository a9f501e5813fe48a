// Where the links of a network begin and end.
#include <algorithm>

#include "sim/network/transport.h"

namespace weft {

Transport::Ends Transport::ends(LinkId id) const {
  if (const std::optional<std::uint32_t> node = node_of(id)) return {.from = *node, .to = *node};
  const Link& link = links_[id];
  if (link.role != LinkRole::inner) {
    const std::uint32_t node = link.to / nics_per_node_;
    return {.from = node, .to = node};
  }
  const std::uint32_t nics = scale_out_->endpoints();
  const auto part_of = [&](std::uint32_t vertex) {
    return vertex < nics ? vertex / nics_per_node_ : nics / nics_per_node_ + (vertex - nics);
  };
  const ShapeLink& edge = scale_out_->links()[id.value - link.base];
  return {.from = part_of(edge.from), .to = part_of(edge.to)};
}

std::optional<std::uint32_t> Transport::node_of(LinkId id) const {
  if (!links_[id].is_scale_up) return std::nullopt;
  return id.value / static_cast<std::uint32_t>(scale_up_->links().size());
}

bool Transport::is_only_way_out(LinkId id) const {
  const Link& link = links_[id];
  if (link.role == LinkRole::nic_send) return true;
  if (link.role == LinkRole::nic_receive) return false;
  const Shape& shape = link.is_scale_up ? *scale_up_ : *scale_out_;
  const std::vector<ShapeLink>& edges = shape.links();
  const std::uint32_t from = edges[id.value - link.base].from;
  return from < shape.endpoints() &&
         std::count_if(edges.begin(), edges.end(),
                       [from](const ShapeLink& edge) { return edge.from == from; }) == 1;
}

Wake Transport::take_over(const HandedOver& entered) {
  auto& queue = links_[entered.link].queue;
  queue.push(entered.message, rings_);
  if (queue.size() > 1) return {};
  return {.link = entered.link, .at = entered.message.due};
}

void Transport::add_uses(const Transport& other) {
  for (std::uint32_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[LinkId(i)];
    add(link.use, other.links_[LinkId(i)].use);
    link.free_at = later(link.free_at, other.links_[LinkId(i)].free_at);
  }
  in_flight_ += other.in_flight_;
}

}  // namespace weft
