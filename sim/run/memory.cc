#include "sim/run/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace weft {

std::int64_t peak_rss_bytes() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return std::int64_t{usage.ru_maxrss} * 1024;  // Linux counts in KiB
}

std::int64_t machine_memory_bytes() {
  const std::int64_t all = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  std::ifstream limit("/sys/fs/cgroup/memory.max");  // "max" where there is none
  std::int64_t allowed = 0;
  return limit >> allowed && allowed < all ? allowed : std::max<std::int64_t>(all, 0);
}

}  // namespace weft
