#include "sim/network/shape.h"

#include "sim/core/assert.h"

namespace weft {

Shape::Shape(std::int64_t endpoints) : endpoints_(static_cast<std::uint32_t>(endpoints)) {
  SIM_ASSERT(endpoints >= 2);
}

void Shape::add(std::uint32_t from, std::uint32_t to, unsigned dimension) {
  links_.push_back({from, to, static_cast<std::uint8_t>(dimension)});
}

std::uint32_t Shape::moved(std::uint32_t link, std::uint32_t by) const {
  const std::uint32_t to = by == 0 ? link : moved_link(link, by);
  SIM_ASSERT(to < links_.size());
  return to;
}

std::uint32_t Shape::moved_link(std::uint32_t /*link*/, std::uint32_t /*by*/) const {
  SIM_ASSERT(false);  // its topology cannot move
}

std::uint32_t Shape::stands_for(std::uint32_t /*link*/, const Shape& /*smaller*/,
                                const std::vector<std::uint32_t>& /*of*/) const {
  SIM_ASSERT(false);  // no part of its topology stands for all
}

int Shape::hops(std::uint32_t from, std::uint32_t to, std::uint64_t hash) const {
  int hops = 0;
  for (std::uint32_t at = from; at != to; ++hops) at = links_[next(at, to, hash)].to;
  return hops;
}

}  // namespace weft
