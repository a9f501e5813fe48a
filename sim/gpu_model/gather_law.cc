#include "sim/gpu_model/gather_law.h"

#include <algorithm>
#include <cmath>

#include "sim/core/shared_server.h"
#include "sim/gpu_model/memory_law.h"

namespace weft {
namespace {

constexpr double kEvenUpTo = 1.6;  // up to this demand the CUs of an H200 run at equal speed

}  // namespace

// The slowest of n rows comes later than a single row does, by gather.doubling per doubling of n.
// All of them must be in the L1 or L2 for the step to be as fast as the L2.
Duration gather_latency(const GpuSpec& gpu, double in_flight, const RowsFound& found) {
  const GatherSpec& gather = gpu.gather;
  const double missed = static_cast<double>(gather.latency.count()) +
                        static_cast<double>(gather.doubling.count()) * std::log2(in_flight);
  const double hit = static_cast<double>(gather.cached.count());
  const double all_hit = std::pow(found.in_l1 + found.in_l2, in_flight);
  return picoseconds(std::llround(missed - (missed - hit) * all_hit));
}

double uneven_demand(double demand) { return std::max(0.0, demand - kEvenUpTo); }

double unevenness(const GpuSpec& gpu, double demand) {
  if (gpu.gather.unfairness == 0) return 0;
  return std::min(0.5, gpu.gather.unfairness * uneven_demand(demand));
}

double bytes_of_step(const ChaseKernel& kernel) {
  return static_cast<double>(kernel.wgs) * kernel.in_flight * kernel.threads *
         static_cast<double>(kLoadBytes);
}

double chase_seconds(const GpuSpec& gpu, const ChaseKernel& kernel) {
  const auto steps = static_cast<double>(kernel.steps);
  const Duration step = gather_latency(gpu, kernel.in_flight, kernel.found);
  const double missed = 1 - kernel.found.in_l1 - kernel.found.in_l2 - kernel.found.in_side_cache;
  return bent(to_seconds(step) * steps,
              transfer_seconds(bytes_of_step(kernel) * missed * steps, gpu.memory.bandwidth),
              gpu.memory.bend);
}

}  // namespace weft
