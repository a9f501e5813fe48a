#include "sim/engine/overdrawn.h"

#include <fmt/format.h>

#include <vector>

namespace weft {

std::string overdrawn(const RunResult& result, const Cluster& cluster) {
  // WGs' times are whole picoseconds, and an engine's rate is rounded: this much is tolerated.
  constexpr double kRounded = 1.001;
  const GpuSpec& gpu = cluster.spec.gpu;
  std::vector<Bandwidth> memory(result.gpus.size(), gpu.memory.bandwidth);
  for (const Straggler& slow : cluster.spec.stragglers) {
    memory[static_cast<std::size_t>(slow.gpu)] = fraction_of(gpu.memory.bandwidth, slow.memory);
  }
  const auto time = static_cast<double>(result.time.count());
  for (std::size_t i = 0; i < result.gpus.size(); ++i) {
    const GpuUse& use = result.gpus[i];
    const double a_picosecond = static_cast<double>(memory[i].count()) * 1e-12;
    const double moving = static_cast<double>(use.hbm.count()) / a_picosecond;
    if (moving > time * kRounded) {
      return fmt::format("HBM of GPU {} {:.1f} % busy", i, 100 * moving / time);
    }
    if (use.cu_busy > result.time * gpu.cus || use.proxy > result.time) {
      return fmt::format("CUs or CPU thread of GPU {} busy for longer than the run", i);
    }
  }
  for (const LinkRow& link : result.links) {
    if (link.use.busy > result.time) return link.name + " busy for longer than the run";
  }
  return "";
}

}  // namespace weft
