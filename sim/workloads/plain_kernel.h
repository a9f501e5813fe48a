// Kernels that leave their results in their own GPU's memory: those of bulk, of chunks, of peers.
#pragma once

#include <vector>

#include "sim/workloads/grid.h"

namespace weft {

// Some of a GPU's WGs: of each of these peers, those with these indices.
struct WgRange {
  std::uint32_t first_peer = 0;
  std::uint32_t last_peer = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  [[nodiscard]] std::uint32_t count() const { return last - first; }
};

// Adds the plain kernel of these WGs, or, where each row is a kernel by itself, one for each, one
// after another. Returns the last one.
KernelId add_plain_kernels(TaskGraph& graph, const Overlap& overlap, const Kernel& like,
                           WgRange range, std::vector<KernelId> after);

// Gives a kernel these WGs, behind the items that the graph has.
void add_items(TaskGraph& graph, Kernel& kernel, const OpKernel& plan, const GpuSpec& gpu);

// Adds a kernel of these WGs, of this operator, on a GPU.
KernelId add_plan(TaskGraph& graph, const Overlap& overlap, std::uint32_t gpu, OperatorId op,
                  const OpKernel& plan, const std::vector<KernelId>& after);

}  // namespace weft
