// Embedding bags as work-groups (WGs), forward and backward.
//
// GPU g owns `tables_per_gpu` tables and pools, for every sample of the global batch, `pooling`
// rows of each. WG (destination, table, block) makes `rows_per_wg` pooled rows of samples that all
// belong to one destination GPU (docs/model.md, "Embedding").
#pragma once

#include "sim/workloads/grid.h"

namespace weft {

// What a WG of the bag does. `writes_result` is false where the result goes straight into a peer's
// memory (zero copy).
enum class Result { written_here, stored_at_peer };
Work embedding_work(const EmbeddingWork& embedding, const GpuSpec& gpu, int wgs_on_cu,
                    Result result);

// A unit is one table's WGs for one destination.
Grid embedding_grid(const Scenario& scenario, const Cluster& cluster, int extra_registers);

// The gradient of the pooled rows comes from the samples' owners and goes into the tables: the same
// WGs, whose peer is now the source.
Grid embedding_backward_grid(const Scenario& scenario, const Cluster& cluster, int extra_registers);

}  // namespace weft
