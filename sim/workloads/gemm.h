// GEMM as work-groups: C = A B, one tile of C per WG, or per split_k WGs.
#pragma once

#include "sim/gpu_model/library_gemm.h"
#include "sim/workloads/grid.h"

namespace weft {

// The GEMM as the GPU's laws need it (sim/gpu_model/gemm_law.h).
TiledGemm tiled(const GemmWork& gemm);

// Rows of C grouped by peer: destination, owner, or source of the rows of A. A unit is one row of
// tiles. The shape is the grid without its WGs' work, which takes a cache simulation.
Grid gemm_shape(const GemmWork& gemm, std::uint32_t gpus);
Grid gemm_grid(const GemmWork& gemm, const GpuSpec& gpu, std::uint32_t gpus,
               const KernelVersion& version);

// A WG's work on one tile, or its part of one, that leaves the result in its GPU's memory.
Work tile_work_written_here(const GemmWork& gemm, const GpuSpec& gpu, const GemmRun& run);

// The kernel that the GPU's library has for `size` (sim/gpu_model/library_gemm.h), with results of
// type `result`; m of it is 0 where no tile fits.
GemmWork library_work(const GemmSize& size, DataType result, const GpuSpec& gpu,
                      std::int64_t peers);

// How the library's WGs come to their tiles where some of them find no slot. The hardware deals out
// WGs of one tile; on GPUs whose kernels fill them in one round WGs stay, and cuBLAS's take tiles
// from a counter but the first ([M] H200 beside kernels that hold SMs).
GemmSchedule library_schedule(const GpuSpec& gpu);

struct GemmPlace {
  GpuId gpu;
  CuRange cus;
  Bandwidth beside = {};  // what a concurrent collective moves through the L2s
  std::uint64_t seed = 0;
};

// The same GEMM by itself on one GPU, as a library's kernel on these CUs. With schedule stream_k
// all WGs have equal work; since they add up one another's parts of tiles, none frees its slot
// before all are done.
Kernel gemm_kernel(TaskGraph& graph, const GemmWork& gemm, const GpuSpec& gpu,
                   const GemmPlace& place);

}  // namespace weft
