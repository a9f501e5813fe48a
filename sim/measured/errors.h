// Errors: how far predictions are from what was measured.
#pragma once

#include <string>
#include <vector>

#include "sim/measured/predict.h"

namespace weft {

// Of |error| as a fraction of the measured time: the median, the value that 90 % do not exceed, and
// the largest, with its sign; and the mean of the signed errors.
struct ErrorSummary {
  std::string of;
  std::size_t cases = 0;
  double median = 0;
  double p90 = 0;
  double worst = 0;
  double bias = 0;
};
ErrorSummary summarise(std::string of, std::vector<double> errors);

// Fused over bulk of one case.
struct RatioOutcome {
  MeasuredLine line;  // the fused one
  double measured = 0;
  double predicted = 0;
};

struct ErrorReport {
  std::vector<Outcome> outcomes;
  std::vector<RatioOutcome> ratios;
  std::vector<ErrorSummary> by_kind;    // in the order of their first lines, then "all"
  std::vector<ErrorSummary> of_ratios;  // absolute differences; by kind, then "all"
};
ErrorReport report_errors(std::vector<Outcome> outcomes);

std::string error_table(const ErrorReport& report);  // Markdown
std::string error_csv(const ErrorReport& report);
// `sets`: the values that were changed in all cases.
std::string error_json(const ErrorReport& report, const std::vector<std::string>& sets);

}  // namespace weft
