// Least squares of relative errors, for parameters that are above 0.
#pragma once

#include <functional>
#include <vector>

namespace weft {

// What a model says of every line, for these parameters; never 0 or less.
using TimesOf = std::function<std::vector<double>(const std::vector<double>& parameters)>;

struct Solution {
  std::vector<double> parameters;
  double worst = 0;  // largest |model / measured - 1|
};

// The parameters for which the sum of squares of log(model / measured) is least, found from
// `start` by Levenberg and Marquardt's method with differences taken over `step` (relative).
// Wants at least as many lines as parameters. The model is asked at most `most_calls` times; the
// best parameters until then are taken.
struct Search {
  double step = 1e-4;
  int most_calls = 2'000;
};
Solution least_squares(const std::vector<double>& measured, const std::vector<double>& start,
                       const TimesOf& model, const Search& search = {});

}  // namespace weft
