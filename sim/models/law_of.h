// Which law an operator's time follows, alone (sim/gpu_model/law.h).
#pragma once

#include "sim/cluster/cluster.h"
#include "sim/models/model_graph.h"

namespace weft {

Law law_of(const ModelOp& op);

// Of collectives of these groups: between nodes if one of them is on several.
Law law_of_collective(const Groups& place, const Cluster& cluster);

}  // namespace weft
