#include "sim/report/time_range.h"

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

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

// An operator of both runs, in us x median of its law, then as a share of each run.
struct InBoth {
  double baseline = 0;
  double result = 0;
};
using OfRuns = std::map<std::pair<Law, std::string>, InBoth>;

double sum_of(const OfRuns& operators, double InBoth::*run) {
  double sum = 0;
  for (const auto& [which, times] : operators) sum += times.*run;
  return sum;
}

void add(OfRuns& operators, const RunResult& run, const LawErrors& errors, double InBoth::*of) {
  const auto median = [&errors](Law law) {
    return law == Law::recorded ? 1 : errors[static_cast<std::size_t>(law)].median;
  };
  Duration in_operators;
  for (const OperatorUse& use : run.operators) {
    in_operators += use.critical;
    operators[{use.law, use.part + '/' + use.name}].*of +=
        to_microseconds(use.critical) * median(use.law);
  }
  operators[{Law::launch, ""}].*of +=
      to_microseconds(run.time - in_operators) * median(Law::launch);
}

// Of a logarithm, below and above.
struct Variance {
  double below = 0;
  double above = 0;
  // What a share of the time brings whose law is off.
  void add(double share, const LawError& error, double weight) {
    const double longer = share * std::log(error.high / error.median);
    const double shorter = share * std::log(error.median / error.low);
    above += weight * std::pow(share > 0 ? longer : shorter, 2);
    below += weight * std::pow(share > 0 ? shorter : longer, 2);
  }
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

SpeedupRange speedup_range_of(const RunResult& baseline, const RunResult& result,
                              const LawErrors& errors) {
  OfRuns operators;
  add(operators, baseline, errors, &InBoth::baseline);
  add(operators, result, errors, &InBoth::result);
  const double of_baseline = sum_of(operators, &InBoth::baseline);
  const double of_result = sum_of(operators, &InBoth::result);
  Variance variance;
  std::array<double, kLaws.size()> common{};
  for (const auto& [which, times] : operators) {
    if (which.first == Law::recorded) continue;
    const auto law = static_cast<std::size_t>(which.first);
    const double share = times.baseline / of_baseline - times.result / of_result;
    common[law] += share;
    variance.add(share, errors[law], 1 - kCommon);
  }
  for (std::size_t law = 0; law < kLaws.size(); ++law) {
    variance.add(common[law], errors[law], kCommon);
  }
  const double middle = of_baseline / of_result;
  return {.low = middle * std::exp(-std::sqrt(variance.below)),
          .high = middle * std::exp(std::sqrt(variance.above))};
}

}  // namespace weft
