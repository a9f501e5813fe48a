// A single copy by a copy engine, from one GPU of a node to another.
#pragma once

#include "sim/tasks/task_graph.h"

namespace weft {

// Of copies that begin together, each on an engine of its own.
struct CopyTurn {
  std::uint32_t index = 0;  // modulo `of`
  std::uint32_t of = 1;
};

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
  // The engine looks for what the copy waits for every `dma.poll`, so begins anywhere in that time:
  // of n copies, in the mean, at 1, 2 ... n of n + 1 parts of it. What a barrier waits for is the
  // last.
  CopyTurn turn = {};
  // Another stream's copy waits for the engine: then the end of this one is seen only by such a
  // look, too.
  bool crowded = false;
};

// Adds its kernel, which ends when whoever gave the command sees the last byte. It is one of the
// GPU that is copied from: the engine of the other one could carry it too.
KernelId add_copy(TaskGraph& graph, const Cluster& cluster, const CopyCall& call);

}  // namespace weft
