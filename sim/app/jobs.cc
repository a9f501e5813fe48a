#include "sim/app/jobs.h"

#include <algorithm>
#include <thread>

namespace weft {

int jobs_or_cores(int asked) {
  // 0 where the system does not tell.
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  return asked > 0 ? asked : static_cast<int>(cores);
}

}  // namespace weft
