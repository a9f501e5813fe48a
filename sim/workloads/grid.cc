#include "sim/workloads/grid.h"

#include <algorithm>

#include "sim/core/assert.h"
#include "sim/core/rng.h"
#include "sim/gpu_model/launch_law.h"
#include "sim/scenario/modes.h"

namespace weft {

std::uint32_t scale_of(const Grid& grid, std::uint64_t seed, std::uint32_t gpu, Logical wg) {
  if (grid.jitter == 0) return Item::kUnit;
  const std::uint64_t id = (std::uint64_t{gpu} * grid.gpus + wg.peer) * grid.per_peer + wg.index;
  const auto width = static_cast<std::int64_t>(grid.jitter * Item::kUnit);
  return static_cast<std::uint32_t>(Item::kUnit +
                                    Rng(seed, grid.stream, id).between(-width, width));
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
          .registers = fused.registers,
          .most_on_cu = fused.max_wgs_per_cu,
          .chain = fused.chain,
          .fences = true};
}

Bandwidth through_channels(const CollectiveSpec& collective) {
  return times_saturating(collective.channel_rate, 2 * std::int64_t{collective.channels});
}

OverlapOptions overlap_options(const Scenario& scenario) {
  return {.collective = scenario.collective,
          .kernel = scenario.kernel,
          .fused = scenario.fused,
          .launch = scenario.run.launch,
          .seed = scenario.run.seed};
}

KernelVersion version_in(Mode mode, const OverlapOptions& options, const GpuSpec& gpu) {
  if (is_fused(mode)) return fused_version(options.fused);
  KernelVersion version;
  version.of_a_peer = mode == Mode::pipelined;
  if (mode == Mode::kernel && options.kernel.chunks > 1) {
    version.beside = through_channels(gpu.collective);
  }
  return version;
}

Duration compute_gap(const LaunchSpec& launch, LaunchKind kind) {
  return gap_of_work(launch, launch_gap(launch, kind));
}

Compiled compiled(const GpuSpec& gpu, const WgShape& wg, const KernelVersion& version) {
  const int needed = wg.registers_per_thread + version.extra_registers;
  const int plain = resident_on_cu(gpu, wg);
  const int left = resident_on_cu(gpu, wg, version.extra_registers);
  const bool caps = version.registers == FusedRegisters::automatic
                        ? left * 2 <= plain
                        : version.registers == FusedRegisters::capped;
  if (!caps || left == plain) return {.registers = needed};
  const int most = gpu.cu.registers / (plain * wg.threads);
  return {.registers = most, .spilled = needed - most};
}

void add_spills(Grid& grid, const GpuSpec& gpu, const KernelVersion& version) {
  const Duration time = spill_time(gpu, grid.wg, compiled(gpu, grid.wg, version).spilled);
  grid.written.memory_alone += time;
  grid.stored.memory_alone += time;
  if (!grid.scattered) return;
  for (Work& work : grid.scattered->works) work.memory_alone += time;
}

int resident(const GpuSpec& gpu, const WgShape& wg, const KernelVersion& version) {
  const int more = compiled(gpu, wg, version).registers - wg.registers_per_thread;
  const int fit = resident_on_cu(gpu, wg, more);
  return version.most_on_cu > 0 ? std::min(fit, version.most_on_cu) : fit;
}

std::int64_t resident_on_gpu(const GpuSpec& gpu, const WgShape& wg, const KernelVersion& version) {
  return std::int64_t{resident(gpu, wg, version)} * gpu.cus;
}

void add_writes(Work& work, const GpuSpec& gpu, std::int64_t written) {
  work.traffic += bytes(written);
  work.written_more += surcharge_of_writes(gpu.memory, written);
}

Duration memory_time(const Work& work, const GpuSpec& gpu) {
  return transfer_time(work.traffic + work.written_more, gpu.memory.bandwidth);
}

Work copy_work(const GpuSpec& gpu, const WgShape& wg, std::int64_t read, std::int64_t written) {
  Work work;
  work.traffic = bytes(read + written);
  work.memory_alone = longer(stream_latency(gpu, wg.loads_in_flight) * waits_for(read, wg),
                             transfer_time(work.traffic, gpu.memory.bandwidth));
  return work;
}

}  // namespace weft
