#include "sim/tune/space.h"

#include <utility>

namespace weft {

Space::Space(std::vector<std::uint32_t> sizes, std::vector<Values> points)
    : sizes_(std::move(sizes)), points_(std::move(points)) {
  for (std::size_t i = 0; i < points_.size(); ++i) numbers_.emplace(points_[i], i);
}

std::optional<std::size_t> Space::find(const Values& values) const {
  const auto found = numbers_.find(values);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::size_t> Space::neighbours(std::size_t point, std::size_t axis) const {
  std::vector<std::size_t> found;
  Values values = points_[point];
  for (std::uint32_t value = 0; value < sizes_[axis]; ++value) {
    if (value == points_[point][axis]) continue;
    values[axis] = value;
    if (const std::optional<std::size_t> neighbour = find(values)) found.push_back(*neighbour);
  }
  return found;
}

}  // namespace weft
