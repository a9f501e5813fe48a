#include "sim/workloads/plain_kernel.h"

#include <algorithm>

namespace weft {
namespace {

KernelId add_plain_kernel(TaskGraph& graph, const Overlap& overlap, Kernel kernel, WgRange range,
                          const std::vector<KernelId>& after) {
  const GpuSpec& spec = overlap.cluster.spec.gpu;
  const Grid& grid = overlap.grid;
  const WgShape& wg = grid.wg;
  kernel.wg = footprint(wg.threads, wg.registers_per_thread, wg.lds, spec.wave_size);
  kernel.persistent = grid.persistent;
  kernel.work_list = grid.work_list;
  kernel.max_grid = static_cast<std::uint32_t>(resident_on_gpu(spec, wg, {}));
  const std::uint32_t work = graph.add_work(grid.written);
  for (std::uint32_t row = range.first; row < range.last; row += grid.in_a_row) {
    const std::uint32_t end = std::min(row + grid.in_a_row, range.last);
    for (std::uint32_t peer = range.first_peer; peer < range.last_peer; ++peer) {
      for (std::uint32_t i = row; i < end; ++i) {
        const std::uint32_t scale =
            scale_of(grid, overlap.options.seed, kernel.gpu.value, Logical{peer, i});
        graph.items.add({.counts_down = LatchId::none(),
                         .waits_for = LatchId::none(),
                         .work = work & 0xFFU,
                         .scale = scale & 0xFFFFFFU});
      }
    }
  }
  return graph.add_kernel(kernel, after);
}

}  // namespace

KernelId add_plain_kernels(TaskGraph& graph, const Overlap& overlap, const Kernel& like,
                           WgRange range, std::vector<KernelId> after) {
  const std::uint32_t step = overlap.grid.kernel_a_row ? overlap.grid.in_a_row : range.count();
  for (std::uint32_t first = range.first; first < range.last; first += step) {
    WgRange row = range;
    row.first = first;
    row.last = std::min(first + step, range.last);
    after = {add_plain_kernel(graph, overlap, like, row, after)};
  }
  return after.front();
}

void add_items(TaskGraph& graph, Kernel& kernel, const OpKernel& plan, const GpuSpec& gpu) {
  kernel.wg = footprint(plan.wg.threads, plan.wg.registers_per_thread, plan.wg.lds, gpu.wave_size);
  kernel.persistent = plan.persistent;
  kernel.work_list = plan.work_list;
  kernel.max_grid = static_cast<std::uint32_t>(resident_on_gpu(gpu, plan.wg, {}));
  for (const OpKernel::Run& run : plan.runs) {
    const std::uint32_t work = graph.add_work(plan.works[run.work]);
    graph.items.add({.work = work & 0xFFU, .scale = run.scale & 0xFFFFFFU}, run.count);
  }
  if (plan.runs.empty()) {  // an expert without tokens
    kernel.wg = footprint(gpu.wave_size, 1, bytes(0), gpu.wave_size);
    graph.items.add({.work = graph.add_work({}) & 0xFFU, .scale = Item::kUnit});
  }
}

KernelId add_plan(TaskGraph& graph, const Overlap& overlap, std::uint32_t gpu, OperatorId op,
                  const OpKernel& plan, const std::vector<KernelId>& after) {
  const GpuSpec& spec = overlap.cluster.spec.gpu;
  Kernel kernel{.gpu = GpuId(gpu), .op = op, .role = graph.operators[op].role};
  kernel.launch = compute_gap(spec.launch, overlap.options.launch);
  add_items(graph, kernel, plan, spec);
  return graph.add_kernel(kernel, after);
}

}  // namespace weft
