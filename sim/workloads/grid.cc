#include "sim/workloads/grid.h"

#include <algorithm>
#include <cmath>

#include "sim/core/assert.h"
#include "sim/core/rng.h"
#include "sim/core/round_up.h"
#include "sim/core/shared_server.h"

namespace weft {
namespace {

constexpr int kSimdsPerCu = 4;  // waves that a CU executes at once, on AMD and NVIDIA

}  // namespace

std::uint32_t scale_of(const Grid& grid, std::uint64_t seed, std::uint32_t gpu, Logical wg) {
  if (grid.jitter == 0) return Item::kUnit;
  const std::uint64_t id = (std::uint64_t{gpu} * grid.gpus + wg.peer) * grid.per_peer + wg.index;
  const auto width = static_cast<std::int64_t>(grid.jitter * Item::kUnit);
  return static_cast<std::uint32_t>(Item::kUnit +
                                    Rng(seed, grid.stream, id).between(-width, width));
}

Team team_of_all(std::uint32_t gpus) {
  Team team;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) team.gpus.push_back(gpu);
  team.after.resize(gpus);
  return team;
}

Duration launch_gap(const LaunchSpec& launch, LaunchKind kind) {
  switch (kind) {
    case LaunchKind::host:
      return launch.host;
    case LaunchKind::queue:
      return launch.queue;
    case LaunchKind::graph:
      return launch.graph;
  }
  SIM_ASSERT(false);
}

KernelVersion fused_version(const FusedOptions& fused) {
  return {.extra_registers = fused.extra_registers_per_thread,
          .most_on_cu = fused.max_wgs_per_cu,
          .chain = fused.chain,
          .fences = true};
}

Bandwidth through_channels(const CollectiveSpec& collective) {
  return collective.channel_rate * (2 * std::int64_t{collective.channels});
}

KernelVersion version_in(Mode mode, const Scenario& scenario, const GpuSpec& gpu) {
  if (mode == Mode::fused) return fused_version(scenario.fused);
  KernelVersion version;
  if (mode == Mode::kernel && scenario.kernel.chunks > 1) {
    version.beside = through_channels(gpu.collective);
  }
  return version;
}

Duration compute_gap(const LaunchSpec& launch, LaunchKind kind) {
  return launch_gap(launch, kind) + launch.ramp;
}

int resident(const GpuSpec& gpu, const WgShape& wg, const KernelVersion& version) {
  const int registers = wg.registers_per_thread + version.extra_registers;
  const int fit = wgs_per_cu(gpu.cu, footprint(wg.threads, registers, wg.lds, gpu.wave_size));
  return version.most_on_cu > 0 ? std::min(fit, version.most_on_cu) : fit;
}

std::int64_t resident_on_gpu(const GpuSpec& gpu, const WgShape& wg, const KernelVersion& version) {
  return std::int64_t{resident(gpu, wg, version)} * gpu.cus;
}

void add_writes(Work& work, const GpuSpec& gpu, std::int64_t written) {
  work.traffic += bytes(written);
  work.written_more +=
      bytes(std::llround(static_cast<double>(written) * (gpu.memory.write_cost - 1)));
}

Duration memory_time(const Work& work, const GpuSpec& gpu) {
  return transfer_time(work.traffic + work.written_more, gpu.memory.bandwidth);
}

Work copy_work(const GpuSpec& gpu, const WgShape& wg, std::int64_t read, std::int64_t written) {
  const std::int64_t in_flight = std::int64_t{wg.threads} * wg.loads_in_flight * kLoadBytes;
  Work work;
  work.traffic = bytes(read + written);
  work.memory_alone = longer(stream_latency(gpu, wg.loads_in_flight) * round_up(read, in_flight),
                             transfer_time(work.traffic, gpu.memory.bandwidth));
  return work;
}

Duration stream_latency(const GpuSpec& gpu, int loads_in_flight) {
  const double more = static_cast<double>(gpu.memory.doubling.count()) * std::log2(loads_in_flight);
  return gpu.memory.latency + picoseconds(std::llround(more));
}

Duration shared_l2_time(const GpuSpec& gpu, Duration alone, std::int64_t bytes_of_a_wg,
                        std::int64_t wgs, std::int64_t slots) {
  if (gpu.l2.bandwidth.count() == 0) return alone;
  const auto waits = static_cast<double>(alone.count());
  const double share_of_one =
      static_cast<double>(bytes_of_a_wg) / static_cast<double>(gpu.l2.bandwidth.count()) * 1e12;
  const auto together = [&](std::int64_t at_once) {
    return bent(waits, share_of_one * static_cast<double>(at_once), gpu.memory.bend);
  };
  const std::int64_t full = wgs / slots;
  const std::int64_t rest = wgs % slots;
  double rounds = static_cast<double>(full) * together(slots);
  if (rest > 0) rounds += together(rest);
  return picoseconds(std::llround(rounds / static_cast<double>(round_up(wgs, slots))));
}

std::uint32_t share_of_cu(const GpuSpec& gpu, int threads) {
  const int waves = (threads + gpu.wave_size - 1) / gpu.wave_size;
  return static_cast<std::uint32_t>(1000 * std::min(waves, kSimdsPerCu) / kSimdsPerCu);
}

// One division.
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

}  // namespace weft
