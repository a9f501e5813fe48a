// How a cost depends on the knobs, from the points that have been simulated: what points cost that
// have not, what each knob is worth, and which pairs of knobs matter together.
//
//   log cost(x) = mean + sum_a f_a(x_a) + sum_{a<b} f_ab(x_a, x_b)
//
// for any functions f of the values, fitted by ridge regression in its dual form (Saunders,
// Gammerman, Vovk: Ridge Regression Learning Algorithm in Dual Variables, ICML 1998): two points
// that agree on m knobs have the kernel m + w m (m - 1) / 2. How much pairs weigh (w) and how close
// the fit comes are chosen by leaving each point out in turn, which costs nothing in this form:
// the error of a point left out is alpha_i / (K + lambda I)^-1_ii.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/tune/space.h"

namespace weft {

struct Costed {
  std::size_t point = 0;
  double cost = 0;  // above 0
};

class Response {
 public:
  // `seen` is not empty. Of more than a few hundred the cheapest, and of the others as many,
  // evenly.
  Response(const Space& space, const std::vector<Costed>& seen);

  [[nodiscard]] double log_cost(const Space::Values& values) const;

  // What the root mean square of errors of log cost is below, nine times of ten, as far as the
  // points tell that were left out in turn; infinite where there is but one.
  [[nodiscard]] double error() const { return error_; }

 private:
  [[nodiscard]] std::size_t of_one(std::size_t axis, std::uint32_t value) const {
    return first_[axis] + value;
  }

  double mean_ = 0;
  double error_ = 0;
  std::vector<std::size_t> first_;  // by axis, where its values begin
  std::size_t values_ = 0;          // of all axes
  std::vector<double> one_;         // f_a, by value
  std::vector<double> two_;         // f_ab, by value of a x value of b; a < b
};

}  // namespace weft
