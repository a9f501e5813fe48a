// Input of a fused kernel that copy engines bring while it runs (mode copy_fed): Flux
// (arXiv:2406.06858) and Triton-distributed (arXiv:2504.19442).
//
// Fetched: a GPU copies its own input to where peers can fetch it; a barrier; then it fetches the
// others', each in a few copies, with a flag after each: on one stream, the previous rank's first;
// where every pair has a link of its own, all at once, on a stream for each. The kernel starts with
// the barrier. Pushed: a GPU's engines write its own input to each peer in turn, part by part, with
// a flag after each; the kernel starts at once.
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

  // What the rank's kernel starts after, if not what the operator does.
  [[nodiscard]] KernelId ready(std::uint32_t rank) const { return ready_[rank]; }

 private:
  using Here = std::vector<std::vector<LatchId>>;  // as add_copies() returns it
  struct Part {
    std::uint32_t from = 0;  // ranks
    std::uint32_t to = 0;
    std::uint32_t first = 0;  // slice
    bool queued = false;      // behind another part on its stream
  };
  [[nodiscard]] std::uint32_t slices_of_a_copy() const;
  KernelId add_flag(std::uint32_t gpu, LatchId there, KernelId copy);
  KernelId bring(const Team& team, const Part& part, std::vector<KernelId> after, Here& here);
  void fetch(const Team& team, std::uint32_t rank, Here& here);
  void push(const Team& team, std::uint32_t rank, Here& here);

  TaskGraph& graph_;
  const Overlap& overlap_;
  std::uint32_t slices_;
  bool pushed_;
  OperatorId staging_ = OperatorId::none();
  OperatorId barrier_ = OperatorId::none();
  OperatorId copying_ = OperatorId::none();
  std::vector<KernelId> ready_;
};

}  // namespace weft
