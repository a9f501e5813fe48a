#include "sim/measured/least_squares.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/NonLinearOptimization>

#include "sim/core/assert.h"

namespace weft {
namespace {

using Vector = Eigen::VectorXd;

// Works in logarithms of parameters and times: errors are relative, nothing can become negative.
class Logarithms {
 public:
  Logarithms(const std::vector<double>& measured, const std::vector<double>& start,
             const TimesOf& model, const Search& search)
      : measured_(measured),
        start_(start),
        model_(model),
        step_(search.step),
        calls_left_(search.most_calls - 1) {}  // the last one is for the solution

  // The interface that Eigen's solver needs.
  [[nodiscard]] int inputs() const { return static_cast<int>(start_.size()); }
  [[nodiscard]] int values() const { return static_cast<int>(measured_.size()); }

  int operator()(const Vector& x, Vector& errors) const {
    if (calls_left_ == 0) return kStop;
    --calls_left_;
    const std::vector<double> times = model_(parameters(x));
    SIM_ASSERT(times.size() == measured_.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      errors[static_cast<Eigen::Index>(i)] = std::log(times[i] / measured_[i]);
    }
    return 0;
  }

  int df(const Vector& x, Eigen::MatrixXd& slopes) const {
    Vector here(values());
    Vector there(values());
    if ((*this)(x, here) == kStop) return kStop;
    for (Eigen::Index p = 0; p < x.size(); ++p) {
      Vector moved = x;
      moved[p] += step_;
      if ((*this)(moved, there) == kStop) return kStop;
      slopes.col(p) = (there - here) / step_;
    }
    return 0;
  }

  [[nodiscard]] std::vector<double> parameters(const Vector& x) const {
    std::vector<double> all;
    all.reserve(start_.size());
    for (std::size_t p = 0; p < start_.size(); ++p) {
      // A wild step must not overflow.
      all.push_back(start_[p] * std::exp(std::clamp(x[static_cast<Eigen::Index>(p)], -7.0, 7.0)));
    }
    return all;
  }

 private:
  static constexpr int kStop = -1;  // the value that stops the solver

  const std::vector<double>& measured_;
  const std::vector<double>& start_;
  const TimesOf& model_;
  double step_;
  mutable int calls_left_;
};

// With the errors' slopes by finite differences.
std::vector<std::vector<double>> covariance_of(const Solution& solution, const Vector& errors,
                                               const std::vector<double>& measured,
                                               const TimesOf& model, double step) {
  const auto lines = static_cast<Eigen::Index>(measured.size());
  const auto count = static_cast<Eigen::Index>(solution.parameters.size());
  if (lines <= count) return {};
  Eigen::MatrixXd slopes(lines, count);
  for (Eigen::Index p = 0; p < count; ++p) {
    std::vector<double> moved = solution.parameters;
    moved[static_cast<std::size_t>(p)] *= std::exp(step);
    const std::vector<double> times = model(moved);
    for (Eigen::Index i = 0; i < lines; ++i) {
      const auto line = static_cast<std::size_t>(i);
      slopes(i, p) = (std::log(times[line] / measured[line]) - errors[i]) / step;
    }
  }
  const Eigen::FullPivLU<Eigen::MatrixXd> normal(slopes.transpose() * slopes);
  if (!normal.isInvertible()) return {};
  const double variance = errors.squaredNorm() / static_cast<double>(lines - count);
  const Eigen::MatrixXd inverse = normal.inverse() * variance;
  std::vector<std::vector<double>> rows;
  for (Eigen::Index p = 0; p < count; ++p) {
    std::vector<double>& row = rows.emplace_back();
    for (Eigen::Index q = 0; q < count; ++q) row.push_back(inverse(p, q));
    if (!(row[static_cast<std::size_t>(p)] >= 0)) return {};  // lost to rounding
  }
  return rows;
}

}  // namespace

Solution least_squares(const std::vector<double>& measured, const std::vector<double>& start,
                       const TimesOf& model, const Search& search) {
  SIM_ASSERT(measured.size() >= start.size() && !start.empty() && search.most_calls > 1);
  Logarithms logarithms(measured, start, model, search);
  Vector x = Vector::Zero(logarithms.inputs());
  Eigen::LevenbergMarquardt<Logarithms> solver(logarithms);
  constexpr int kMostCalls = 200;
  solver.parameters.maxfev = kMostCalls;
  solver.minimize(x);
  Solution solution{.parameters = logarithms.parameters(x), .worst = 0};
  const std::vector<double> times = model(solution.parameters);
  Vector errors(logarithms.values());
  for (std::size_t i = 0; i < times.size(); ++i) {
    solution.worst = std::max(solution.worst, std::abs(times[i] / measured[i] - 1));
    errors[static_cast<Eigen::Index>(i)] = std::log(times[i] / measured[i]);
  }
  solution.covariance = covariance_of(solution, errors, measured, model, search.step);
  return solution;
}

}  // namespace weft
