// Attention as work-groups, after FlashAttention-2 (Dao, arXiv:2307.08691): a WG has 128 queries of
// one head and goes through the keys; backward, it has 128 keys and goes through the queries. With
// few queries (decode) the keys are split among WGs instead (sim/models/split_keys.h).
#pragma once

#include "sim/models/op_kernel.h"

namespace weft {

OpKernel attention_kernel(const AttentionShape& shape, const GpuSpec& gpu);

}  // namespace weft
