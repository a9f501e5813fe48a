// The kernels around attention's backward kernel, in cuDNN 9 and FlashAttention-2 alike: that
// kernel's WGs have a block of keys each, so they add up the queries' gradients in fp32, and give
// each head of the queries its own gradients of keys and values.
#pragma once

#include <vector>

#include "sim/models/model_graph.h"

namespace weft {

// Before: the rows' sums of results times their gradients; clears what is added to.
StreamShape attention_row_sums(const AttentionShape& shape);

// After: the queries' gradients in the type of the others; keys' and values', each summed over the
// heads that share them.
struct AttentionGradients {
  StreamShape queries;
  std::vector<StreamShape> shared;  // empty where no heads share
};
AttentionGradients attention_gradients(const AttentionShape& shape);

}  // namespace weft
