// The search of points for several objectives: for each by itself, then for all at once (the
// product of their costs), one after the other. Each knows all that was simulated before it, and
// has as many points to go as the others. Of one objective it is PointSearch.
//
// What all of them simulate has the front: the points that no other beats in every objective.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/tune/search.h"

namespace weft {

class SeveralSearches {
 public:
  // Tries at most so many points, not counting those without costs. `start` is the first.
  SeveralSearches(const Space& space, std::size_t objectives, std::size_t most,
                  std::optional<std::size_t> start);

  // The next ones, all different and new; none: all have ended.
  std::vector<std::size_t> ask();

  // Of each that it asked for, a cost of each objective; without costs where they cannot be had, or
  // the point cannot be the best.
  void tell(std::size_t point, const std::optional<std::vector<double>>& costs);

  [[nodiscard]] std::size_t simulated() const { return search_->seen().size(); }
  [[nodiscard]] bool told(std::size_t point) const { return search_->told(point); }
  // Whether something known is at least as good in every objective as such costs.
  [[nodiscard]] bool beats(const std::vector<double>& costs) const;
  // Of the first objective.
  [[nodiscard]] std::optional<Costed> best() const { return best_; }

 private:
  struct Known {
    std::size_t point = 0;
    std::optional<std::vector<double>> costs;
  };

  void begin(std::size_t turn);
  [[nodiscard]] std::optional<double> cost_now(const Known& known) const;

  const Space& space_;
  std::size_t objectives_;
  std::size_t most_;
  std::optional<std::size_t> start_;
  std::vector<Known> known_;
  std::optional<Costed> best_;
  std::size_t turn_ = 0;  // of each objective, then of all
  std::optional<PointSearch> search_;
};

}  // namespace weft
