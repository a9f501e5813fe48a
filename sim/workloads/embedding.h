// Embedding bags as work-groups (WGs), and the three ways to run them with their all-to-all.
//
// GPU g owns `tables_per_gpu` tables and pools, for every sample of the global batch, `pooling`
// rows of each. WG (destination, table, block) makes `rows_per_wg` pooled rows of samples that all
// belong to one destination GPU (docs/model.md, "Embedding").
#pragma once

#include "sim/workloads/task_graph.h"

namespace weft {

// What a WG of the bag does. `writes_result` is false where the result goes straight into a peer's
// memory (zero copy).
enum class Result { written_here, stored_at_peer };
Work embedding_work(const EmbeddingWork& embedding, const GpuSpec& gpu, int wgs_on_cu,
                    Result result);

// WGs of one GPU whose results go to one destination.
std::int64_t wgs_per_destination(const EmbeddingWork& embedding, int gpus);

TaskGraph lower_embedding(const Scenario& scenario, const Cluster& cluster, Mode mode);

}  // namespace weft
