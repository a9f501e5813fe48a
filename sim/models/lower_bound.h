// A time below which no mode can bring a model's step, found without simulating it: what a search
// need not simulate because it cannot be the best.
//
// Products of matrices at the GPU's peak, what streams through memory at its bandwidth, and lookups
// as if each row came from memory once (least_traffic in sim/workloads/embedding.h), one
// after the other on each stream of a GPU; everything else takes no time. A GPU waits for others
// only at point-to-point sends: what is fused with another collective may begin before the
// collective has ended. So a pipeline's bubble counts, and what a stage has more than others.
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/models/model_graph.h"
#include "sim/pipeline/split.h"

namespace weft {

double lower_bound_us(const ModelGraph& graph, const GpuSpec& gpu);

// The times of a pipelined decoder's layers so reckoned, of all microbatches together, and of what
// its first and its last stage do besides, but for the optimiser. `gpus_of_stage`: the first so
// many GPUs are the first stage.
Chain chain_of(const ModelGraph& graph, const GpuSpec& gpu, std::uint32_t gpus_of_stage);

}  // namespace weft
