// The memory that a run takes, estimated from what it has to do.
#pragma once

#include "sim/collectives/collective.h"
#include "sim/network/transport.h"
#include "sim/tasks/task_graph.h"

namespace weft {

// Of one simulator, and of a task graph that may not exist yet.
Bytes memory_of_run(const Cluster& cluster, const CollectiveCounts& counts);
Bytes memory_of_run(const Cluster& cluster, const TaskGraph& graph);

// Of a graph's messages, no more than so many are on their way at any time: the others follow from
// messages that have arrived by then, each from one of its own.
struct OnTheirWay {
  std::size_t in_all = 0;
  std::size_t begun_by_one = 0;  // the most that one GPU sends without having got another
};
OnTheirWay most_on_their_way(const TaskGraph& graph, std::uint32_t gpus);

// What each simulator has for itself if several share the run: what there is of the whole cluster.
Bytes memory_of_share(const Cluster& cluster, const TaskGraph& graph);

}  // namespace weft
