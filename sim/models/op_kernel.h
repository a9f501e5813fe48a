// The kernel of an operator that computes, as work-groups (WGs), cut as a library or a compiler
// would do it (docs/model.md, "Whole models").
#pragma once

#include "sim/models/model_graph.h"
#include "sim/workloads/grid.h"

namespace weft {

// For GEMMs, attention, streams and recorded kernels; `rank` matters if ranks differ.
OpKernel op_kernel(const OpShape& shape, const GpuSpec& gpu, std::uint32_t rank);

// Cuts the tiles into items for a grid of at most `fit` WGs, which take them as they come: first
// one for each WG, then as many rounds as leave half of them for later, again and again, so that
// WGs share them evenly even where some of the grid find no slot; last the tiles beyond whole
// rounds. Alone, every WG takes one item of each.
void deal(OpKernel& kernel, std::int64_t tiles, std::int64_t fit);

// The work of one of `wgs` WGs with equal parts of a stream.
Work stream_work(const StreamShape& shape, const GpuSpec& gpu, const WgShape& wg, std::int64_t wgs);

// The first `items` items, all of the kernel's first work, wait `setup` longer.
void add_setup(OpKernel& kernel, Duration setup, std::int64_t items);

// Bytes of an element of B over those of one of A.
double size_of_b(const GemmShape& shape);

// The library's choice: of the available tiles and splits of k, those with which the GEMM by itself
// is fastest. `peers` > 1: rows of tiles must divide among so many.
GemmWork choose_gemm(const GemmShape& shape, const GpuSpec& gpu, std::int64_t peers);

// The tiles that the library's kernels for it have.
std::vector<GemmTile> tiles_of(const GemmShape& shape, const GpuSpec& gpu);

}  // namespace weft
