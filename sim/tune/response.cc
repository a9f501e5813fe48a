#include "sim/tune/response.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace weft {
namespace {

constexpr std::size_t kMostFitted = 600;
constexpr std::array<double, 4> kPairWeights{0, 0.1, 0.3, 1};
constexpr std::array<double, 3> kRidges{0.001, 0.03, 1};

std::vector<Costed> some_of(std::vector<Costed> seen) {
  if (seen.size() <= kMostFitted) return seen;
  std::stable_sort(seen.begin(), seen.end(),
                   [](const Costed& a, const Costed& b) { return a.cost < b.cost; });
  constexpr std::size_t kHalf = kMostFitted / 2;
  const std::vector<Costed> others(seen.begin() + kHalf, seen.end());
  seen.resize(kHalf);
  for (std::size_t i = 0; i < kHalf; ++i) seen.push_back(others[i * others.size() / kHalf]);
  return seen;
}

struct Fit {
  double error = std::numeric_limits<double>::infinity();
  double pair_weight = 0;
  double ridge = 0;
  Eigen::VectorXd alpha = {};
};

Fit fit_of(const Eigen::MatrixXd& agreeing, const Eigen::VectorXd& costs, double pair_weight,
           double ridge, double constant = 0) {
  const auto n = costs.size();
  Eigen::MatrixXd kernel =
      (constant + agreeing.array() * (1 + pair_weight / 2 * (agreeing.array() - 1))).matrix();
  kernel.diagonal().array() += ridge;
  const Eigen::LLT<Eigen::MatrixXd> solver(kernel);
  const Eigen::MatrixXd inverse = solver.solve(Eigen::MatrixXd::Identity(n, n));
  Fit fit{.pair_weight = pair_weight, .ridge = ridge, .alpha = inverse * costs};
  const Eigen::ArrayXd left_out = fit.alpha.array() / inverse.diagonal().array();
  fit.error = std::sqrt(left_out.square().mean());
  return fit;
}

// What a root mean square that was found from so few errors is below, nine times of ten: a tenth of
// chi square with n degrees of freedom (Wilson and Hilferty, 1931).
double nine_times_of_ten(double root_mean_square, Eigen::Index n) {
  constexpr double kTenth = -1.2816;  // of the normal distribution
  const double ninths = 2.0 / (9.0 * static_cast<double>(n));
  return root_mean_square / std::pow(1 - ninths + kTenth * std::sqrt(ninths), 1.5);
}

// Of points that are left out, the mean of all costs without them: a constant that is not held
// small is in the kernel. Of one point nothing is known.
double error_of(const Eigen::MatrixXd& agreeing, const Eigen::VectorXd& costs, const Fit& fit) {
  constexpr double kFree = 1e4;  // beside agreements of up to some tens
  const auto n = costs.size();
  if (n < 2) return std::numeric_limits<double>::infinity();
  const double left_out = fit_of(agreeing, costs, fit.pair_weight, fit.ridge, kFree).error;
  return nine_times_of_ten(left_out, n);
}

Fit best_fit(const Eigen::MatrixXd& agreeing, const Eigen::VectorXd& costs) {
  Fit best;
  for (const double pair_weight : kPairWeights) {
    for (const double ridge : kRidges) {
      Fit fit = fit_of(agreeing, costs, pair_weight, ridge);
      if (fit.error < best.error) best = std::move(fit);
    }
  }
  return best;
}

}  // namespace

Response::Response(const Space& space, const std::vector<Costed>& seen) {
  for (std::size_t axis = 0; axis < space.axes(); ++axis) {
    first_.push_back(values_);
    values_ += space.size_of(axis);
  }
  one_.assign(values_, 0);
  two_.assign(values_ * values_, 0);
  const std::vector<Costed> fitted = some_of(seen);
  const auto n = static_cast<Eigen::Index>(fitted.size());
  Eigen::VectorXd costs(n);
  Eigen::MatrixXd agreeing(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Space::Values& mine = space.at(fitted[static_cast<std::size_t>(i)].point);
    costs[i] = std::log(fitted[static_cast<std::size_t>(i)].cost);
    for (Eigen::Index j = 0; j <= i; ++j) {
      const Space::Values& other = space.at(fitted[static_cast<std::size_t>(j)].point);
      int same = 0;
      for (std::size_t a = 0; a < mine.size(); ++a) same += mine[a] == other[a] ? 1 : 0;
      agreeing(i, j) = agreeing(j, i) = same;
    }
  }
  mean_ = costs.mean();
  costs.array() -= mean_;
  const Fit fit = best_fit(agreeing, costs);
  error_ = error_of(agreeing, costs, fit);
  for (Eigen::Index i = 0; i < fit.alpha.size(); ++i) {
    const Space::Values& mine = space.at(fitted[static_cast<std::size_t>(i)].point);
    for (std::size_t a = 0; a < mine.size(); ++a) {
      one_[of_one(a, mine[a])] += fit.alpha[i];
      for (std::size_t b = a + 1; b < mine.size(); ++b) {
        two_[of_one(a, mine[a]) * values_ + of_one(b, mine[b])] += fit.pair_weight * fit.alpha[i];
      }
    }
  }
}

double Response::log_cost(const Space::Values& values) const {
  double sum = mean_;
  for (std::size_t a = 0; a < values.size(); ++a) {
    const std::size_t row = of_one(a, values[a]);
    sum += one_[row];
    for (std::size_t b = a + 1; b < values.size(); ++b) {
      sum += two_[row * values_ + of_one(b, values[b])];
    }
  }
  return sum;
}

}  // namespace weft
