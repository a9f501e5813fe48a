// The all-to-all of a library: a kernel of channels, or copy engines, per GPU.
//
// Direct algorithm: every GPU sends to own + s, own + 2s, ... in turn (modulo the GPUs, s the
// spreading stride), one piece to each before the second piece to the first, so that all links and
// both directions of rings are in use at any time.
#pragma once

#include <vector>

#include "sim/workloads/task_graph.h"

namespace weft {

struct AllToAllCall {
  Bytes bytes_per_pair;
  CollectiveExecutor executor = CollectiveExecutor::cu;
  OperatorId op;
  Duration launch;                           // dependency's end to the kernel's start
  std::vector<std::vector<KernelId>> after;  // dependencies, by GPU; may be empty
  CuRange cus;                               // that its channels may use
  int priority = 0;                          // of its stream
  int channels = 0;                          // 0: the GPU's
};

// Adds one kernel per GPU to the graph; returns them by GPU. A kernel ends when all that it sends
// is out of its hands and all that others send to it has arrived.
std::vector<KernelId> add_all_to_all(TaskGraph& graph, const Cluster& cluster,
                                     const AllToAllCall& call);

TaskGraph lower_all_to_all(const Scenario& scenario, const Cluster& cluster, Mode mode);

// Pieces that a pair's bytes are cut into: messages of one pair.
std::int64_t pieces_per_pair(const GpuSpec& gpu, CollectiveExecutor executor, Bytes bytes_per_pair,
                             std::int64_t gpus);

// In steps of about the golden section of their number, coprime to it, any few peers in a row are
// far and near, in all directions and dimensions of a torus. In steps of 1 they load one ring
// direction after another: an 8x8 torus then takes 18 % longer than its bound instead of 4 %.
std::uint32_t spreading_stride(std::uint32_t gpus);

}  // namespace weft
