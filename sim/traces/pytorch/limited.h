// Products and sums of what profiles say, which may be anything.
#pragma once

#include <cstdint>

namespace weft {

// Products and sums that stay at this limit if they would exceed it: such work is rejected.
constexpr std::int64_t kTooMuch = std::int64_t{1} << 62U;
inline std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) || product > kTooMuch ? kTooMuch : product;
}
inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) || sum > kTooMuch ? kTooMuch : sum;
}

}  // namespace weft
