// Division that rounds up: how many of `d` hold `n`.
#pragma once

#include <cstdint>

namespace weft {

constexpr std::int64_t round_up(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

}  // namespace weft
