// The collectives of a library: a kernel of channels, or copy engines, per GPU.
#pragma once

#include <vector>

#include "sim/workloads/task_graph.h"

namespace weft {

struct CollectiveCall {
  CollectiveOp op = CollectiveOp::all_to_all;
  // Of each GPU. All-to-all and reduce-scatter: what it sends from; all-gather: what it receives
  // into; all-reduce: what is reduced. So n blocks, one a GPU of the group.
  Bytes buffer;
  CollectiveOptions options;
  OperatorId operator_id;
  Duration launch;                           // dependency's end to the kernel's start
  std::vector<std::vector<KernelId>> after;  // dependencies, by GPU; may be empty
  CuRange cus;                               // that its channels may use
  int priority = 0;                          // of its stream
};

// Adds one kernel per GPU to the graph; returns them by GPU. A kernel ends when all that it sends
// is out of its hands and all that others send to it has arrived.
std::vector<KernelId> add_collective(TaskGraph& graph, const Cluster& cluster,
                                     const CollectiveCall& call);

const char* name_of(CollectiveOp op);

}  // namespace weft
