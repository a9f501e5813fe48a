// An all-to-all of rows, each put by a WG as soon as it has read it: into the receiver's memory
// inside a node, through the NIC between nodes. No staging at the receiver's side, no channels, no
// turns: DeepEP's dispatch and combine for low latency (docs/model.md, "Rows put one by one").
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workloads/row_lowering.h"

namespace weft {

struct RowPuts {
  RowExchange exchange;
  std::vector<std::int64_t> rows;  // [from * ranks + to]
  std::int64_t experts = 0;  // of all ranks: each WG stands for equally many of them; 0: no matter
  int at_once = 0;           // rows that a CU puts at a time, those of a token; 0: as many as fit
  bool packs = false;        // the receiver's WGs move rows from where they have arrived
};

// One kernel per GPU, by rank. Each tells every other when its rows are there, also if it had none;
// a kernel ends when it has seen all of that and, if it packs, has moved what came.
std::vector<KernelId> add_row_puts(TaskGraph& graph, const RowPuts& puts);

// Of all kernels, at most.
struct RowPutCounts {
  double items = 0;
  double sends = 0;
};
RowPutCounts count_row_puts(double rows, double ranks, bool packs);

}  // namespace weft
