// An all-to-all of tokens in which each goes once to every GPU that wants it, and once to every
// node: to the GPU there that has the same number as its own, which forwards it. Home, that GPU
// adds up what its node has made of a token and sends the sum. DeepEP's kernels for training and
// prefill (docs/model.md, "Tokens sent once").
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workloads/row_lowering.h"

namespace weft {

// Of the ranks of a group, as many on each node, numbered node by node.
struct Reached {
  std::uint32_t per_node = 1;       // ranks
  std::vector<std::int64_t> gpus;   // [rank * ranks + at]: its tokens that go there
  std::vector<std::int64_t> nodes;  // [rank * nodes + at]: its tokens that go to a GPU there
  bool operator==(const Reached&) const = default;
};

struct RowForwards {
  RowExchange exchange;  // half of its CUs send, the other half forward and receive
  const Reached& reached;
  bool home = false;  // from the GPUs reached back to the tokens' own
};

// The kernel of each rank that forwards and receives, by rank; it ends when all has come.
std::vector<KernelId> add_row_forwards(TaskGraph& graph, const RowForwards& what);

// Of all kernels, at most.
struct RowForwardCounts {
  double items = 0;
  double sends = 0;
};
RowForwardCounts count_row_forwards(const Reached& reached);

}  // namespace weft
