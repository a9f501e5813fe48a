// Attention as work-groups, after FlashAttention-2 (Dao, arXiv:2307.08691): a WG has 128 queries of
// one head and goes through the keys; backward, it has 128 keys and goes through the queries. With
// few queries (decode) the keys of a head are split among WGs instead, so that these fill the GPU.
#pragma once

#include "sim/models/op_kernel.h"

namespace weft {

// Whether it has too few queries for the matrix units: its keys are split, and its arithmetic takes
// no time beside reading them.
bool splits_keys(const AttentionShape& shape);

OpKernel attention_kernel(const AttentionShape& shape, const GpuSpec& gpu);

}  // namespace weft
