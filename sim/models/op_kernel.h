// The kernel of an operator that computes, as work-groups (WGs): shapes as a library or a compiler
// would cut them (docs/model.md, "Whole models").
#pragma once

#include <vector>

#include "sim/models/model_graph.h"
#include "sim/workloads/grid.h"

namespace weft {

// One GPU's kernel. Persistent: the WGs of the grid stay, each for the tiles that come to it, and
// an item is all that one of them does, or a part of that which fits an item's scale.
struct OpKernel {
  struct Run {  // of items alike
    std::uint32_t work = 0;
    std::uint32_t scale = 0;
    std::uint32_t count = 0;
  };
  WgShape wg;
  bool persistent = false;
  std::vector<Work> works;
  std::vector<Run> runs;
};

// Of GEMM, attention, stream and recorded kernel; `rank` matters where ranks differ.
OpKernel op_kernel(const OpShape& shape, const GpuSpec& gpu, std::uint32_t rank);

// The library's choice: of the tiles and splits of k that there are, those with which the GEMM by
// itself is done first. `peers` > 1: rows of tiles divide among so many.
GemmWork choose_gemm(const GemmShape& shape, const GpuSpec& gpu, std::int64_t peers);

}  // namespace weft
