#include "sim/network/shape.h"

#include <fmt/format.h>

#include <cmath>

#include "sim/core/assert.h"
#include "sim/core/plural.h"

namespace weft {

Shape::Shape(const FabricSpec& spec, int endpoints)
    : kind_(spec.shape),
      ring_ties_(spec.ring_ties),
      up_routing_(spec.up_routing),
      endpoints_(static_cast<std::uint32_t>(endpoints)) {
  SIM_ASSERT(endpoints >= 2);
  switch (kind_) {
    case ShapeKind::fully_connected:
      build_fully_connected();
      break;
    case ShapeKind::switched:
      build_switch();
      break;
    case ShapeKind::torus:
      build_torus(spec);
      break;
    case ShapeKind::fat_tree:
      build_fat_tree(spec);
      break;
  }
}

std::int64_t Shape::count_links(const FabricSpec& spec, std::int64_t endpoints) {
  switch (spec.shape) {
    case ShapeKind::fully_connected:
      return endpoints * (endpoints - 1);
    case ShapeKind::switched:
      return 2 * endpoints;
    case ShapeKind::torus:
      return 2 * endpoints * static_cast<std::int64_t>(spec.dims.size());
    case ShapeKind::fat_tree: {
      const std::int64_t spines = std::lround(spec.endpoints_per_leaf / spec.oversubscription);
      return 2 * endpoints + 2 * (endpoints / spec.endpoints_per_leaf) * spines;
    }
  }
  SIM_ASSERT(false);
}

void Shape::add(std::uint32_t from, std::uint32_t to, unsigned dimension) {
  links_.push_back({from, to, static_cast<std::uint8_t>(dimension)});
}

// Link from a to b: row a, and in it b without the diagonal.
void Shape::build_fully_connected() {
  for (std::uint32_t from = 0; from < endpoints_; ++from) {
    for (std::uint32_t to = 0; to < endpoints_; ++to) {
      if (from != to) add(from, to, 0);
    }
  }
  description_ = fmt::format("{} fully connected", endpoints_);
}

// Links 0..n-1 go up to the one switch, n..2n-1 down from it.
void Shape::build_switch() {
  for (std::uint32_t i = 0; i < endpoints_; ++i) add(i, endpoints_, 0);
  for (std::uint32_t i = 0; i < endpoints_; ++i) add(endpoints_, i, 1);
  description_ = fmt::format("{} on one switch", endpoints_);
}

// Vertex v has 2 links a dimension: v x 2D + 2d towards larger coordinates, + 1 towards smaller.
void Shape::build_torus(const FabricSpec& spec) {
  std::uint64_t product = 1;
  for (const int size : spec.dims) {
    SIM_ASSERT(size >= 2);
    sizes_.push_back(static_cast<std::uint32_t>(size));
    product *= static_cast<std::uint64_t>(size);
  }
  SIM_ASSERT(product == endpoints_);
  for (std::uint32_t vertex = 0; vertex < endpoints_; ++vertex) {
    std::uint32_t rest = vertex;
    std::uint32_t stride = 1;
    for (unsigned d = 0; d < sizes_.size(); ++d) {
      const std::uint32_t size = sizes_[d];
      const std::uint32_t here = rest % size;
      rest /= size;
      coordinates_.push_back(static_cast<std::uint16_t>(here));
      const std::uint32_t base = vertex - here * stride;
      add(vertex, base + (here + 1) % size * stride, 2 * d);
      add(vertex, base + (here + size - 1) % size * stride, 2 * d + 1);
      stride *= size;
    }
  }
  if (sizes_.size() == 1) {
    description_ = fmt::format("ring of {}", endpoints_);
  } else {
    description_ = fmt::format("{} torus", fmt::join(sizes_, "x"));
  }
}

// Leaf l joins endpoints l x per_leaf ..; every leaf has one link to every spine. Links: endpoint
// up (e), leaf down to endpoint (n + e), leaf up (2n + l x spines + s), spine down (.. + leaves x
// spines).
void Shape::build_fat_tree(const FabricSpec& spec) {
  per_leaf_ = static_cast<std::uint32_t>(spec.endpoints_per_leaf);
  leaves_ = endpoints_ / per_leaf_;
  spines_ = static_cast<std::uint32_t>(std::lround(per_leaf_ / spec.oversubscription));
  SIM_ASSERT(leaves_ * per_leaf_ == endpoints_);
  SIM_ASSERT(spines_ >= 1);
  const std::uint32_t leaf0 = endpoints_;
  const std::uint32_t spine0 = endpoints_ + leaves_;
  for (std::uint32_t e = 0; e < endpoints_; ++e) add(e, leaf0 + e / per_leaf_, 0);
  for (std::uint32_t e = 0; e < endpoints_; ++e) add(leaf0 + e / per_leaf_, e, 1);
  for (std::uint32_t l = 0; l < leaves_; ++l) {
    for (std::uint32_t s = 0; s < spines_; ++s) add(leaf0 + l, spine0 + s, 2);
  }
  for (std::uint32_t l = 0; l < leaves_; ++l) {
    for (std::uint32_t s = 0; s < spines_; ++s) add(spine0 + s, leaf0 + l, 3);
  }
  description_ =
      fmt::format("fat tree of {} {} and {} {}", leaves_, plural(leaves_, "leaf", "leaves"),
                  spines_, plural(spines_, "spine", "spines"));
}

std::uint32_t Shape::next(std::uint32_t at, std::uint32_t to, std::uint64_t hash) const {
  switch (kind_) {
    case ShapeKind::fully_connected:
      return at * (endpoints_ - 1) + to - (to > at ? 1 : 0);
    case ShapeKind::switched:
      return at == endpoints_ ? endpoints_ + to : at;
    case ShapeKind::torus:
      return next_in_torus(at, to);
    case ShapeKind::fat_tree:
      return next_in_fat_tree(at, to, hash);
  }
  SIM_ASSERT(false);
}

// Half of the pairs: by where the message is in this dimension and where it goes in the others.
bool Shape::odd_pair(const std::uint16_t* here, const std::uint16_t* there, std::size_t d) const {
  unsigned sum = here[d];
  for (std::size_t e = 0; e < sizes_.size(); ++e) {
    if (e != d) sum += there[e];
  }
  return (sum & 1U) != 0;
}

// Dimension order, the shorter way around each ring.
std::uint32_t Shape::next_in_torus(std::uint32_t at, std::uint32_t to) const {
  const std::size_t dims = sizes_.size();
  const std::uint16_t* here = &coordinates_[at * dims];
  const std::uint16_t* there = &coordinates_[to * dims];
  for (std::size_t d = 0; d < dims; ++d) {
    if (here[d] == there[d]) continue;
    const std::uint32_t size = sizes_[d];
    const std::uint32_t forward =
        there[d] > here[d] ? there[d] - here[d] : there[d] + size - here[d];
    bool down = 2 * forward > size;
    // A tie can only stand at the start of a dimension.
    if (2 * forward == size && ring_ties_ == RingTies::split) down = odd_pair(here, there, d);
    return static_cast<std::uint32_t>(at * 2 * dims + 2 * d + (down ? 1 : 0));
  }
  SIM_ASSERT(false);  // at == to: arrived messages are not routed
}

std::uint32_t Shape::next_in_fat_tree(std::uint32_t at, std::uint32_t to,
                                      std::uint64_t hash) const {
  const std::uint32_t leaf0 = endpoints_;
  const std::uint32_t spine0 = endpoints_ + leaves_;
  const std::uint32_t leaf_up0 = 2 * endpoints_;
  if (at < leaf0) return at;
  const std::uint32_t to_leaf = to / per_leaf_;
  if (at >= spine0) return leaf_up0 + (leaves_ + to_leaf) * spines_ + (at - spine0);
  const std::uint32_t leaf = at - leaf0;
  if (leaf == to_leaf) return endpoints_ + to;
  const auto spine = static_cast<std::uint32_t>(
      up_routing_ == UpRouting::by_destination ? to % spines_ : hash % spines_);
  return leaf_up0 + leaf * spines_ + spine;
}

bool Shape::can_move(std::uint32_t by) const {
  if (by == 0 || kind_ == ShapeKind::switched) return true;
  // Whole leaves; spines take turns as destinations do.
  return kind_ == ShapeKind::fat_tree && up_routing_ == UpRouting::by_destination &&
         by % per_leaf_ == 0;
}

std::uint32_t Shape::moved(std::uint32_t link, std::uint32_t by) const {
  SIM_ASSERT(can_move(by));
  const std::uint32_t endpoint_links = 2 * endpoints_;
  std::uint32_t to = link + by;
  if (link >= endpoint_links && by > 0) {
    const std::uint32_t row = (link - endpoint_links) / spines_;
    const std::uint32_t spine = (link - endpoint_links) % spines_;
    to = endpoint_links + (row + by / per_leaf_) * spines_ + (spine + by) % spines_;
  }
  SIM_ASSERT(to < links_.size());
  return to;
}

int Shape::hops(std::uint32_t from, std::uint32_t to, std::uint64_t hash) const {
  int hops = 0;
  for (std::uint32_t at = from; at != to; ++hops) at = links_[next(at, to, hash)].to;
  return hops;
}

const char* Shape::link_class(const ShapeLink& link) const {
  static constexpr const char* kTorus[] = {"x+", "x-", "y+", "y-", "z+", "z-"};
  static constexpr const char* kTree[] = {"up", "down", "leaf_up", "spine_down"};
  switch (kind_) {
    case ShapeKind::fully_connected:
      return "direct";
    case ShapeKind::torus:
      return kTorus[link.dimension];
    case ShapeKind::switched:
    case ShapeKind::fat_tree:
      return kTree[link.dimension];
  }
  SIM_ASSERT(false);
}

}  // namespace weft
