// How long a call takes by itself: the only thing that lowering asks of the engine, which
// implements it in sim/engine/collective_trial.cc.
#pragma once

#include <optional>

#include "sim/tasks/task_graph.h"

namespace weft {

// Nothing where it takes longer than `at_most`.
std::optional<Duration> trial_time(const Cluster& cluster, const TaskGraph& graph,
                                   Duration at_most);

}  // namespace weft
