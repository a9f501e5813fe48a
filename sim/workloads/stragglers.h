// Slows the WGs of GPUs that are slower than the others.
#pragma once

#include "sim/tasks/task_graph.h"

namespace weft {

// Everything that a WG on a straggler does by itself takes 1 / clock times as long: arithmetic,
// memory as its own loads in flight allow, and what comes before. Its bytes and operations do not
// change. The engine lowers the GPU's HBM bandwidth; copy engines, launches and fences keep their
// times.
void slow_stragglers(TaskGraph& graph, const Cluster& cluster);

}  // namespace weft
