// The points among which the best is looked for: of each axis (a knob) one value, those
// combinations that the sweep's filter keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace weft {

class Space {
 public:
  using Values = std::vector<std::uint32_t>;  // of each axis the index of its value

  // `sizes`: values of each axis. `points` are all different.
  Space(std::vector<std::uint32_t> sizes, std::vector<Values> points);

  [[nodiscard]] std::size_t points() const { return points_.size(); }
  [[nodiscard]] std::size_t axes() const { return sizes_.size(); }
  [[nodiscard]] std::uint32_t size_of(std::size_t axis) const { return sizes_[axis]; }
  [[nodiscard]] const Values& at(std::size_t point) const { return points_[point]; }

  // Nothing: the filter does not keep it.
  [[nodiscard]] std::optional<std::size_t> find(const Values& values) const;

  // Those that differ from it on this axis alone, in the order of the values.
  [[nodiscard]] std::vector<std::size_t> neighbours(std::size_t point, std::size_t axis) const;

 private:
  std::vector<std::uint32_t> sizes_;
  std::vector<Values> points_;
  std::map<Values, std::size_t> numbers_;
};

}  // namespace weft
