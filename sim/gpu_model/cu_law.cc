#include "sim/gpu_model/cu_law.h"

#include <algorithm>
#include <cmath>

#include "sim/core/assert.h"
#include "sim/gpu_model/residency.h"

namespace weft {
namespace {

constexpr int kSimdsPerCu = 4;  // waves that a CU executes at once, on AMD and NVIDIA

}  // namespace

int resident_on_cu(const GpuSpec& gpu, const WgShape& wg, int extra_registers) {
  return wgs_per_cu(gpu.cu, footprint(wg.threads, wg.registers_per_thread + extra_registers, wg.lds,
                                      gpu.wave_size));
}

std::uint32_t share_of_cu(const GpuSpec& gpu, int threads) {
  const int waves = (threads + gpu.wave_size - 1) / gpu.wave_size;
  return static_cast<std::uint32_t>(1000 * std::min(waves, kSimdsPerCu) / kSimdsPerCu);
}

// A single division, so rounded once.
Duration arithmetic_time(Flops work, FlopRate peak, const GpuSpec& gpu, std::uint32_t share) {
  __extension__ using Wide = unsigned __int128;
  const Wide all = static_cast<Wide>(work.count()) * static_cast<Wide>(gpu.cus) * 1000;
  const Wide rate = static_cast<Wide>(peak.count()) * share;
  constexpr std::uint64_t kPsPerSecond = 1'000'000'000'000;
  SIM_ASSERT(all < (static_cast<Wide>(1) << 87U));  // times 10^12 < 2^127
  const Wide ps = (all * kPsPerSecond + rate - 1) / rate;
  SIM_ASSERT(ps <= static_cast<Wide>(INT64_MAX));
  return picoseconds(static_cast<std::int64_t>(ps));
}

Duration attention_time(const AttentionWork& work, const GpuSpec& gpu, std::uint32_t share) {
  const Duration products = arithmetic_time(work.products, work.reached, gpu, share);
  const Duration softmax = arithmetic_time(flops(work.scores), work.exponentials, gpu, share);
  return picoseconds(std::llround(
      std::hypot(static_cast<double>(products.count()), static_cast<double>(softmax.count()))));
}

}  // namespace weft
