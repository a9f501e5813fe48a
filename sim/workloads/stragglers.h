// WGs of GPUs that are slower than the others.
#pragma once

#include "sim/tasks/task_graph.h"

namespace weft {

// Everything that a WG on a straggler does by itself takes 1 / clock times as long: arithmetic,
// what its own loads in flight allow, what comes before them. Its bytes and operations stay. The
// engine lowers the bandwidth of its HBM; copy engines, launches and fences keep their times.
void slow_stragglers(TaskGraph& graph, const Cluster& cluster);

}  // namespace weft
