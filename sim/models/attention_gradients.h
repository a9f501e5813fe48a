// The kernels around attention's backward kernel, as in cuDNN 9 and FlashAttention-2: each WG of
// that kernel has a block of keys, so the WGs accumulate the queries' gradients in fp32 and write
// gradients of keys and values for each query head separately.
#pragma once

#include <cstdint>

#include "sim/models/model_graph.h"

namespace weft {

// Before it: for each row, the sum of results times their gradients; clears the accumulators.
StreamShape attention_row_sums(const AttentionShape& shape);

// After it: converts the queries' gradients to the data type of the others.
StreamShape attention_query_gradients(const AttentionShape& shape);

// Then, where query heads share keys: sums the gradients of keys, or of values, over these heads.
bool shares_keys(const AttentionShape& shape);
StreamShape attention_shared_gradients(const AttentionShape& shape, std::int64_t dim);

}  // namespace weft
