// A single copy by a copy engine, from one GPU of a node to another.
#pragma once

#include "sim/tasks/task_graph.h"

namespace weft {

struct CopyCall {
  std::uint32_t from = 0;  // GPU
  std::uint32_t to = 0;
  Bytes size;
  OperatorId operator_id;
  Duration launch;
  std::vector<KernelId> after = {};  // on whichever GPU gives the command
  // Right behind another copy on its stream: `dma.next` after its last byte, if that has been seen
  // by then (`dma.signal`).
  bool queued = false;
};

// Adds its kernel, which ends when whoever gave the command sees the last byte. It is one of the
// GPU that is copied from: the engine of the other one could carry it too.
KernelId add_copy(TaskGraph& graph, const Cluster& cluster, const CopyCall& call);

}  // namespace weft
