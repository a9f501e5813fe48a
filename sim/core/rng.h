// Random numbers: one seed, named independent streams, the same numbers from every compiler.
//
//   Rng jitter{run.seed, "gpu/jitter", gpu.value};   // a draw here does not affect other streams
//
// The engine is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
// OOPSLA 2014). Distributions are Boost's: those of std:: differ between standard libraries.
#pragma once

#include <boost/random/uniform_int_distribution.hpp>
#include <cstdint>
#include <string_view>

#include "sim/core/fingerprint.h"

namespace weft {

class Rng {
 public:
  using result_type = std::uint64_t;
  Rng(std::uint64_t seed, std::string_view stream, std::uint64_t index = 0)
      : state_(mix64(mix64(seed ^ fnv1a(stream)) + index * 0x9E3779B97F4A7C15ULL)) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return UINT64_MAX; }
  result_type operator()() { return mix64(state_ += 0x9E3779B97F4A7C15ULL); }

  // Uniformly from low to high, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return boost::random::uniform_int_distribution<std::int64_t>(low, high)(*this);
  }

 private:
  std::uint64_t state_;
};

}  // namespace weft
