// Sets of things that belong together (union-find).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace weft {

class Ties {
 public:
  explicit Ties(std::size_t things) : parent_(things) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  std::uint32_t find(std::uint32_t thing) {
    while (parent_[thing] != thing) thing = parent_[thing] = parent_[parent_[thing]];
    return thing;
  }
  // The lower number represents the set, so sets are in the order of their first members.
  void tie(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace weft
