#include "sim/core/nearest.h"

#include <algorithm>

namespace weft {
namespace {

std::string either(std::int64_t below, std::int64_t above) {
  return std::to_string(below) + " or " + std::to_string(above);
}

}  // namespace

std::string multiples_around(std::int64_t value, std::int64_t step) {
  const std::int64_t below = value / step * step;
  return below == 0 ? std::to_string(step) : either(below, below + step);
}

std::string divisors_around(std::int64_t whole, std::int64_t value) {
  std::int64_t below = 1;
  std::int64_t above = whole;
  for (std::int64_t low = 1; low <= whole / low; ++low) {
    if (whole % low != 0) continue;
    for (const std::int64_t divisor : {low, whole / low}) {
      if (divisor < value) below = std::max(below, divisor);
      if (divisor > value) above = std::min(above, divisor);
    }
  }
  if (value > whole) return std::to_string(whole);
  return below == above ? std::to_string(below) : either(below, above);
}

}  // namespace weft
