#include "sim/workloads/barrier.h"

#include <vector>

namespace weft {

std::vector<KernelId> add_barrier(TaskGraph& graph, const Overlap& overlap, const Team& team,
                                  OperatorId op, const std::vector<std::vector<KernelId>>& after) {
  const GpuSpec& gpu = overlap.cluster.spec.gpu;
  const auto ranks = static_cast<std::uint32_t>(team.gpus.size());
  std::vector<LatchId> told;
  for (std::uint32_t r = 0; r < ranks; ++r) told.push_back(graph.add_latch(ranks - 1));
  const std::uint32_t nothing = graph.add_work({});
  std::vector<KernelId> kernels;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    constexpr int kRegisters = 32;  // [BG] of a thread that polls
    Kernel kernel{.gpu = GpuId(team.gpus[r]), .op = op, .role = KernelRole::collective};
    kernel.wg = footprint(gpu.wave_size, kRegisters, bytes(0), gpu.wave_size);
    kernel.launch = launch_gap(gpu.launch, overlap.options.launch);
    kernel.fenced = true;
    kernel.flag = gpu.peer_store.flag + gpu.peer_store.swap;
    kernel.finish = told[r];
    const LatchId out = graph.add_latch(1);
    for (std::uint32_t step = 1; step < ranks; ++step) {
      const std::uint32_t to = (r + step) % ranks;
      graph.add_send({.to = team.gpus[to],
                      .size = kFlagBytes,
                      .arrives = told[to],
                      .op = static_cast<std::uint16_t>(op.value)});
    }
    graph.items.add({.counts_down = out, .work = nothing & 0xFFU, .scale = Item::kUnit});
    kernel.team_first = static_cast<std::uint32_t>(graph.kernels.size()) - r;
    kernel.team_size = ranks;
    kernels.push_back(graph.add_kernel(kernel, after[r]));
  }
  return kernels;
}

}  // namespace weft
