// A decoder of language, dense or of experts: a step of training, a prompt, or one more token.
#pragma once

#include "sim/models/model_graph.h"

namespace weft {

// Of kinds transformer and moe.
ModelGraph build_transformer(const Workload& workload, int gpus);

}  // namespace weft
