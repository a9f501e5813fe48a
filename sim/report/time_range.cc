#include "sim/report/time_range.h"

#include <cmath>

namespace weft {
namespace {

constexpr double kCommon = 0.5;  // of a law's variance, to all operators that follow it

struct OnPath {
  double sum = 0;      // us
  double squares = 0;  // us^2, of each operator
  void add(double us) {
    sum += us;
    squares += us * us;
  }
  [[nodiscard]] double variance() const { return kCommon * sum * sum + (1 - kCommon) * squares; }
};

}  // namespace

TimeRange range_of(const RunResult& result, const LawErrors& errors) {
  std::array<OnPath, kLaws.size() + 1> paths;  // the last: recorded times
  Duration in_operators;
  for (const OperatorUse& use : result.operators) {
    in_operators += use.critical;
    paths[static_cast<std::size_t>(use.law)].add(to_microseconds(use.critical));
  }
  // One launch after another, all alike.
  paths[static_cast<std::size_t>(Law::launch)].add(to_microseconds(result.time - in_operators));
  double middle = paths.back().sum;
  double below = 0;
  double above = 0;
  for (std::size_t law = 0; law < kLaws.size(); ++law) {
    const LawError& error = errors[law];
    middle += paths[law].sum * error.median;
    below += std::pow(error.median - error.low, 2) * paths[law].variance();
    above += std::pow(error.high - error.median, 2) * paths[law].variance();
  }
  return {.low_us = middle - std::sqrt(below), .high_us = middle + std::sqrt(above)};
}

}  // namespace weft
