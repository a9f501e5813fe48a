// The kernel of a receive that waits on CUs beside what its GPU computes.
#pragma once

#include <map>

#include "sim/models/lower_model.h"

namespace weft {

class WaitingKernels {
 public:
  WaitingKernels(TaskGraph& tasks, const ModelLowering& how) : tasks_(tasks), how_(how) {}

  // Adds one: it has the WGs of the library's receive, comes first where both find room, and stays
  // until `latch` opens. `launch`: that of what it waits beside.
  void add(GpuId gpu, OperatorId op, const PostedReceive& receive, Duration launch, LatchId latch,
           const std::vector<KernelId>& after);

 private:
  [[nodiscard]] Kernel receiver_of(const PostedReceive& receive) const;

  TaskGraph& tasks_;
  const ModelLowering& how_;
  std::map<std::pair<std::int64_t, bool>, Kernel> known_;  // by size, and whether between nodes
};

}  // namespace weft
