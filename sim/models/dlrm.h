// A recommendation model: embedding tables spread over the GPUs, the MLPs on each of them.
#pragma once

#include "sim/models/model_graph.h"

namespace weft {

ModelGraph build_dlrm(const Workload& workload, int gpus);

}  // namespace weft
