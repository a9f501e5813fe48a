// The kernels around attention's backward kernel, in cuDNN 9 and FlashAttention-2 alike: that
// kernel's WGs have a block of keys each, so they add up the queries' gradients in fp32, and give
// each head of the queries its own gradients of keys and values.
#pragma once

#include <cstdint>

#include "sim/models/model_graph.h"

namespace weft {

// Before: the rows' sums of results times their gradients; clears what is added to.
StreamShape attention_row_sums(const AttentionShape& shape);

// After: the queries' gradients in the type of the others.
StreamShape attention_query_gradients(const AttentionShape& shape);

// Then, where heads of queries share keys: gradients of keys, or of values, summed over these.
bool shares_keys(const AttentionShape& shape);
StreamShape attention_shared_gradients(const AttentionShape& shape, std::int64_t dim);

}  // namespace weft
