// GEMM as work-groups: C = A B, a tile of C a WG, or split_k WGs.
//
// Operands come from HBM through L2. WGs that run together share rows of A and columns of B: what
// they read from HBM is the panels they touch, once for each L2 that such WGs are dealt to, or once
// where a memory-side cache stands behind the L2s (docs/model.md, "GEMM").
#pragma once

#include "sim/workloads/grid.h"

namespace weft {

struct GemmRun {
  std::int64_t cus;
  std::int64_t wgs_on_cu;  // that fit
  std::int64_t peers;      // whose rows of tiles come one after another
  Bandwidth beside = {};   // what a collective beside it passes through the L2s
  [[nodiscard]] std::int64_t wgs_at_once() const { return cus * wgs_on_cu; }
};

// HBM bytes that all WGs of the GEMM read.
std::int64_t operand_traffic(const GemmWork& gemm, const GpuSpec& gpu, const GemmRun& run);

// Rows of C grouped by peer: destination, owner, or source of the rows of A. A unit is one row of
// tiles. The shape is all of the grid but what its WGs do, which takes a sample of the caches.
Grid gemm_shape(const Scenario& scenario, const Cluster& cluster);
Grid gemm_grid(const Scenario& scenario, const Cluster& cluster, const KernelVersion& version);
Grid gemm_grid(const GemmWork& gemm, const GpuSpec& gpu, std::uint32_t gpus,
               const KernelVersion& version);

// What a WG does to one tile, or its part of it, and to leave the result in its GPU's memory.
Work tile_work_written_here(const GemmWork& gemm, const GpuSpec& gpu, const GemmRun& run);

struct GemmPlace {
  GpuId gpu;
  CuRange cus;
  Bandwidth beside = {};  // what a collective beside it passes through the L2s
};

// The same GEMM by itself on one GPU, as a library's kernel on these CUs. Of schedule stream_k all
// WGs have equal work, and as they add up one another's parts of tiles, none gives its place back
// before all are done.
Kernel gemm_kernel(TaskGraph& graph, const Scenario& scenario, const GpuSpec& gpu,
                   const GemmPlace& place);

}  // namespace weft
