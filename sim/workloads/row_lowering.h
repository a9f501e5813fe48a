// What kernels that move rows of tokens have in common (row_puts.h, row_forwards.h): a wave moves a
// row, as many of them on a CU as DeepEP has. The keys of `fused` are about other kernels: rows are
// moved in every mode.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workloads/fused_kernel.h"
#include "sim/workloads/grid.h"

namespace weft {

struct RowExchange {
  const OverlapOptions& options;
  const Cluster& cluster;
  OperatorId op;
  std::vector<std::uint32_t> gpus;           // of the group, by rank
  std::vector<std::vector<KernelId>> after;  // by rank
  Bytes row;                                 // on the way
  Bytes made_from;                           // what is read of it where it is sent first
  int cus = 0;                               // whose WGs move rows; 0: all
};

class RowLowering {
 protected:
  RowLowering(TaskGraph& graph, const RowExchange& exchange);

  // Items that are added from the first call to the second one are this kernel's; each rank has
  // equally many, and the first of all is `first`. `waves`: at most so many on a CU; 0: as many as
  // DeepEP has.
  [[nodiscard]] Kernel begin(std::uint32_t rank, CuRange cus, int waves = 0) const;
  KernelId end(std::uint32_t rank, Kernel kernel, std::uint32_t first, std::uint32_t of_a_rank);
  void push(const Work& work, LatchId counts_down, LatchId waits_for,
            std::uint32_t scale = Item::kUnit);

  [[nodiscard]] const GpuSpec& spec() const { return exchange_.cluster.spec.gpu; }
  [[nodiscard]] std::uint32_t gpu(std::uint32_t rank) const { return exchange_.gpus[rank]; }

  TaskGraph& graph_;
  const RowExchange& exchange_;
  OverlapOptions options_;
  Grid grid_;
  FusedSends sends_;
  std::uint32_t ranks_;
};

}  // namespace weft
