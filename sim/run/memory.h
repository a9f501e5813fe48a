// The memory of this process and of its machine.
#pragma once

#include <cstdint>

namespace weft {

std::int64_t peak_rss_bytes();  // 0 where the system does not say

// What this machine has, or what this process may take of it (cgroup); 0 if unknown.
std::int64_t machine_memory_bytes();

}  // namespace weft
