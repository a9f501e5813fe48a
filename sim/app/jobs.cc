#include "sim/app/jobs.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

namespace weft {
namespace {

// By the cgroup's quota, as containers have it: "200000 100000" are two; "max 100000" is no limit.
int allowed_cores() {
  std::ifstream limit("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (!(limit >> quota >> period) || period <= 0) return kMostJobs;
  return std::clamp(static_cast<int>(std::ceil(quota / period)), 1, kMostJobs);
}

}  // namespace

int jobs_or_cores(int asked) {
  if (asked > 0) return asked;
  // 0 where the system does not tell.
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return std::min(cores, allowed_cores());
}

}  // namespace weft
