#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace calibration {

struct Summary {
  double median;
  double minimum;
  double maximum;
};

// Of an even number of samples the median is the mean of the two in the middle.
inline Summary summarize(std::vector<double> samples) {
  if (samples.empty()) {
    throw std::invalid_argument("no samples");
  }
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  const double median =
      samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return {median, samples.front(), samples.back()};
}

}  // namespace calibration
