// An all-to-all of rows, each put by a WG as soon as it has read it: into the receiver's memory
// inside a node, through the NIC between nodes. No staging at the receiver's side, no channels, no
// turns: DeepEP's dispatch and combine for low latency (docs/model.md, "Rows put one by one").
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workloads/grid.h"

namespace weft {

struct RowPuts {
  const OverlapOptions& options;
  const Cluster& cluster;
  OperatorId op;
  std::vector<std::uint32_t> gpus;           // of the group, by rank
  std::vector<std::vector<KernelId>> after;  // by rank
  std::vector<std::int64_t> rows;            // [from * ranks + to]
  Bytes row;                                 // on the way
  Bytes made_from;                           // what is read of it
  int cus = 0;                               // whose WGs put; 0: all
  bool packs = false;  // the receiver's WGs move rows from where they have arrived
};

// One kernel per GPU, by rank. Each tells every other when its rows are there, also if it had none;
// a kernel ends when it has seen all of that and, if it packs, has moved what came.
std::vector<KernelId> add_row_puts(TaskGraph& graph, const RowPuts& puts);

// What kernels that move rows have in common: a wave for a row, so many on a CU; and the keys of
// `fused` are about other kernels: rows are moved in every mode.
OverlapOptions options_of_rows(OverlapOptions options);
Grid grid_of_rows(const GpuSpec& gpu, std::size_t ranks, Bytes row);
int waves_on_cu(const GpuSpec& gpu, const WgShape& wave);

// Of all kernels, at most.
struct RowPutCounts {
  double items = 0;
  double sends = 0;
};
RowPutCounts count_row_puts(double rows, double ranks, bool packs);

}  // namespace weft
