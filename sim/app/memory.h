// The memory of this process.
#pragma once

#include <cstdint>

namespace weft {

std::int64_t peak_rss_bytes();  // 0 where the system does not say

}  // namespace weft
