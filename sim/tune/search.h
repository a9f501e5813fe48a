// PointSearch: which points to simulate next, so that few of many are.
//
// First some that are spread at random. Then, time and again, what is not known yet of the best
// one's neighbours, and what the response (response.h) says costs least; all of them where it may.
// With enough points it ends where no single knob improves, but nothing makes it.
//
// It asks for as many at a time whatever the number of cores, so what it finds does not depend on
// them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/tune/response.h"
#include "sim/tune/space.h"

namespace weft {

class PointSearch {
 public:
  // Tries at most so many points, not counting those without a cost. `start` is the first.
  PointSearch(const Space& space, std::size_t most, std::optional<std::size_t> start);

  // The next ones, all different and new; none: it has ended.
  std::vector<std::size_t> ask();

  // Of each that it asked for; without a cost where it cannot be had, or cannot be the least.
  void tell(std::size_t point, std::optional<double> cost);

  [[nodiscard]] const std::vector<Costed>& seen() const { return seen_; }
  [[nodiscard]] std::optional<Costed> best() const { return best_; }
  [[nodiscard]] bool told(std::size_t point) const { return told_[point]; }

 private:
  std::vector<std::size_t> spread(std::size_t number) const;
  std::vector<std::size_t> promising(std::size_t number);

  const Space& space_;
  std::size_t most_;
  std::optional<std::size_t> start_;
  std::vector<bool> told_;
  std::vector<std::size_t> shuffled_;
  std::vector<Costed> seen_;
  std::optional<Costed> best_;
  std::optional<Response> response_;  // of all that was seen; none: not made yet
};

}  // namespace weft
