// Input of a fused kernel that copy engines bring while it runs (mode copy_fed): Flux
// (arXiv:2406.06858) and Triton-distributed (arXiv:2504.19442).
//
// A GPU copies its own input to where peers can fetch it; a barrier; then it fetches the others',
// each in a few copies, with a flag behind each: on one stream, the previous rank's first; where
// every pair has a link of its own, all at once, on a stream for each. The kernel starts with the
// barrier.
#pragma once

#include <vector>

#include "sim/workloads/grid.h"

namespace weft {

class BroughtInput {
 public:
  // Of each peer there are so many slices, which flags may stand for.
  BroughtInput(TaskGraph& graph, const Overlap& overlap, std::uint32_t slices);

  // By rank, for each rank and slice [from x slices + slice]: the latch that opens when it is
  // there.
  std::vector<std::vector<LatchId>> add_copies(const Team& team);

  // In so many copies a peer's input comes, each of as many slices.
  [[nodiscard]] std::uint32_t copies_of_a_peer() const;

  // What the rank's kernel starts after.
  [[nodiscard]] KernelId ready(std::uint32_t rank) const { return ready_[rank]; }

 private:
  KernelId add_flag(std::uint32_t gpu, LatchId there, KernelId copy);
  std::vector<LatchId> fetch(const Team& team, std::uint32_t rank);

  TaskGraph& graph_;
  const Overlap& overlap_;
  std::uint32_t slices_;
  OperatorId staging_;
  OperatorId barrier_;
  OperatorId copying_;
  std::vector<KernelId> ready_;
};

}  // namespace weft
