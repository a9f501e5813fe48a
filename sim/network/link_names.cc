// What links are called.
#include <fmt/format.h>

#include "sim/network/transport.h"

namespace weft {

std::string Transport::name(LinkId id) const {
  const std::uint32_t i = id.value;
  if (!scale_out_ || i < scale_out_base_) {
    const auto per_node = static_cast<std::uint32_t>(scale_up_->links().size());
    const ShapeLink& edge = scale_up_->links()[i % per_node];
    return fmt::format("node{} {}->{}", i / per_node, edge.from, edge.to);
  }
  if (i < send_base_) {
    const ShapeLink& edge = scale_out_->links()[i - scale_out_base_];
    return fmt::format("{}->{}", edge.from, edge.to);
  }
  if (i < receive_base_) return fmt::format("nic{} send", i - send_base_);
  return fmt::format("nic{} receive", i - receive_base_);
}

LinkId Transport::named(std::string_view wanted) const {
  for (std::uint32_t i = 0; i < links_.size(); ++i) {
    if (name(LinkId(i)) == wanted) return LinkId(i);
  }
  return LinkId::none();
}

std::string Transport::link_class(LinkId id) const {
  const Link& link = links_[id];
  if (link.role == LinkRole::nic_send) return "nic_send";
  if (link.role == LinkRole::nic_receive) return "nic_receive";
  const Shape& shape = link.is_scale_up ? *scale_up_ : *scale_out_;
  const ShapeLink& edge = shape.links()[id.value - link.base];
  return fmt::format("{}_{}", link.is_scale_up ? "scale_up" : "scale_out", shape.link_class(edge));
}

}  // namespace weft
