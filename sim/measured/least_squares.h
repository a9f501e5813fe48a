// Least squares of relative errors, for positive parameters.
#pragma once

#include <functional>
#include <vector>

namespace weft {

// What a model predicts for every line with these parameters; always above 0.
using TimesOf = std::function<std::vector<double>(const std::vector<double>& parameters)>;

struct Solution {
  std::vector<double> parameters;
  double worst = 0;  // largest |model / measured - 1|
  // Of the parameters' logarithms: (J^T J)^-1 times the variance of the logarithms' errors, of
  // which there are as many free ones as there are more lines than parameters; J is the slope at
  // the solution. Empty where there are no more, or where the lines do not tell parameters apart.
  std::vector<std::vector<double>> covariance = {};
};

// The parameters that minimise the sum of squares of log(model / measured), found from `start` by
// the Levenberg-Marquardt method with finite differences over `step` (relative). Needs at least as
// many lines as parameters. The model is called at most `most_calls` times, and once more for each
// parameter; the best parameters until then are returned.
struct Search {
  double step = 1e-4;
  int most_calls = 2'000;
};
Solution least_squares(const std::vector<double>& measured, const std::vector<double>& start,
                       const TimesOf& model, const Search& search = {});

}  // namespace weft
