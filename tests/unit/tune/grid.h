// Spaces in which every combination of values is a point.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/tune/space.h"

namespace weft {

inline Space grid(const std::vector<std::uint32_t>& sizes) {
  std::vector<Space::Values> points{{}};
  for (const std::uint32_t size : sizes) {
    std::vector<Space::Values> longer;
    for (const Space::Values& values : points) {
      for (std::uint32_t value = 0; value < size; ++value) {
        longer.push_back(values);
        longer.back().push_back(value);
      }
    }
    points = std::move(longer);
  }
  return {sizes, points};
}

}  // namespace weft
