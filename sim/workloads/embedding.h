// Embedding bags as work-groups (WGs), forward and backward.
//
// Each GPU owns `tables_per_gpu` tables and pools, for every sample of the global batch, `pooling`
// rows of each table. WG (destination, table, block) makes `rows_per_wg` pooled rows of samples
// that all belong to one destination GPU (docs/model.md, "Embedding").
#pragma once

#include "sim/workloads/gather.h"
#include "sim/workloads/grid.h"

namespace weft {

// How a WG of the bag runs; its result may go directly into a peer's memory (zero copy).
enum class Result { written_here, stored_at_peer };
struct BagRun {
  int wgs_on_cu = 1;
  Result result = Result::written_here;
  RowsFound found;  // shares of rows found in caches
};
Work embedding_work(const EmbeddingWork& bag, const GpuSpec& gpu, const BagRun& run);

// A unit is one table's WGs for one destination. The shape is the grid without its WGs' work, which
// takes a cache simulation.
Grid embedding_shape(const EmbeddingWork& bag, std::uint32_t gpus);
Grid embedding_grid(const EmbeddingWork& bag, const GpuSpec& gpu, std::uint32_t gpus,
                    const KernelVersion& version);

// Backward, the gradient of the pooled rows comes from the samples' owners and goes into the
// tables: the same WGs, whose peer is now the source.
Grid embedding_backward_shape(const EmbeddingWork& work, std::uint32_t gpus);
Grid embedding_backward_grid(const EmbeddingWork& work, const GpuSpec& gpu, std::uint32_t gpus,
                             const KernelVersion& version);

// Bytes of its GPU's memory that the lookups of all tables move at least, in whatever order and
// version, and backward what is added to their rows: each row that is looked up comes from there
// once, rows that others looked up before excepted (`l2_is_warm`), and indices and gradients come
// too. The number of different rows is that expected, less four of its standard deviations.
double least_traffic(const EmbeddingWork& work, bool backward);

}  // namespace weft
