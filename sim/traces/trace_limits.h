// The largest numbers that a trace may hold. Sums over a run of any length then fit 63 bits.
#pragma once

#include <cstdint>

namespace weft::trace_limits {

inline constexpr std::int64_t kBytes = std::int64_t{1} << 46U;     // per operator: 64 TiB
inline constexpr std::int64_t kMicroseconds = 100'000'000'000;     // per kernel: 28 hours
inline constexpr std::int64_t kFlops = 1'000'000'000'000'000'000;  // per kernel

inline constexpr std::int64_t kWgs = std::int64_t{1} << 40U;  // of one kernel

}  // namespace weft::trace_limits
