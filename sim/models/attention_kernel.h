// Attention as work-groups, after FlashAttention-2 (Dao, arXiv:2307.08691): a WG has 128 queries of
// one head and goes through the keys; backward, it has 128 keys and goes through the queries. With
// few queries (decode) the keys are split among WGs instead (sim/models/split_keys.h).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/models/op_kernel.h"

namespace weft {

OpKernel attention_kernel(const AttentionShape& shape, const GpuSpec& gpu);

inline constexpr std::int64_t kAttentionBlock = 128;  // queries (backward: keys) per WG

// Adds to the work of a WG what it reads and writes, if it goes through `inner` keys (backward:
// queries).
void add_block_traffic(Work& work, const AttentionShape& shape, const GpuSpec& gpu,
                       const WgShape& wg, std::int64_t inner);

// The blocks of `heads` heads, each with blocks of these scales. Heads follow one another, as
// libraries number their blocks; of more than `most_turns`, several run in one turn.
void add_blocks(OpKernel& kernel, const std::vector<std::uint32_t>& scales, std::int64_t heads,
                std::int64_t most_turns);

}  // namespace weft
