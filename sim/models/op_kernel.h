// The kernel of an operator that computes, as work-groups (WGs), cut as a library or a compiler
// would do it (docs/model.md, "Whole models").
#pragma once

#include <vector>

#include "sim/models/model_graph.h"
#include "sim/workloads/grid.h"

namespace weft {

// One GPU's kernel. Persistent: the WGs of the grid stay and take items, each of one or several
// tiles or blocks, as the list says.
struct OpKernel {
  struct Run {  // of equal items
    std::uint32_t work = 0;
    std::uint32_t scale = 0;
    std::uint32_t count = 0;
  };
  WgShape wg;
  bool persistent = false;
  WorkList work_list = WorkList::static_list;
  std::vector<Work> works;
  std::vector<Run> runs;
};

// For GEMMs, attention, streams and recorded kernels; `rank` matters if ranks differ.
OpKernel op_kernel(const OpShape& shape, const GpuSpec& gpu, std::uint32_t rank);

// The first `items` items, all of the kernel's first work, wait `setup` longer.
void add_setup(OpKernel& kernel, Duration setup, std::int64_t items);

// The library's choice: of the available tiles and splits of k, those with which the GEMM by itself
// is fastest. `peers` > 1: rows of tiles must divide among so many.
GemmWork choose_gemm(const GemmShape& shape, const GpuSpec& gpu, std::int64_t peers);

}  // namespace weft
