// Attention of few queries, each against all kept keys (decoding): the keys of a head, or of heads
// that share them, are split among WGs, so that these fill the GPU; a second kernel joins the
// parts.
//
// By which kernel: of the GPU's library, or of an inference engine (gpu.engine_attention). Those of
// FlashAttention choose the number of parts by a rule of their own (num_splits_heuristic): of
// blocks of keys, the least number of parts that fills 0.85 of the rounds of WGs that the best
// number fills; none where WGs for whole sequences already fill 0.8 of a round. FlashAttention-3
// does not split up to four blocks.
#pragma once

#include "sim/models/op_kernel.h"

namespace weft {

// Whether it has too few queries for the matrix units: its keys are split, and its arithmetic takes
// no time beside reading them.
bool splits_keys(const AttentionShape& shape);

// Parts by that rule: `groups` of queries that share keys, `slots` for WGs, `blocks` of keys.
std::int64_t flash_parts(EngineKernel kernel, std::int64_t groups, std::int64_t slots,
                         std::int64_t blocks);

OpKernel split_keys_kernel(const AttentionShape& shape, const GpuSpec& gpu);

}  // namespace weft
