// Numbers as people read them. Files for programs get full precision instead (summary.cc, csv.cc).
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/quantity.h"

namespace weft {

std::string time_text(Duration duration);    // "812 ns", "345.678 us", "12.346 ms", "1.234 s"
std::string percent_text(double share);      // 0.434 is "43 %"; from 0 to 0.5 % "<1 %"
std::string count_text(std::int64_t count);  // "2,097,152"
std::string large_text(double number);       // "23.4 M"
std::string bytes_text(std::int64_t size);   // "12.3 GB", decimal as bandwidths are
std::string rate_text(double bytes_per_s);   // "459 GB/s"
std::string ratio_text(double ratio);        // "1.23x"

}  // namespace weft
