// A decoder-only language model, dense or with experts: a training step, a prompt or one token
// more.
#pragma once

#include "sim/models/model_graph.h"

namespace weft {

// For workloads of kinds transformer and moe.
ModelGraph build_transformer(const Workload& workload, int gpus);

}  // namespace weft
