// What would have fitted: the nearest multiples or divisors of a number, for messages.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

// "8064 or 8192": the multiples of `step` around `value`.
std::string multiples_around(std::int64_t value, std::int64_t step);

// "16 or 32": the divisors of `whole` around `value`.
std::string divisors_around(std::int64_t whole, std::int64_t value);

}  // namespace weft
