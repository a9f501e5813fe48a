// Attention of few queries, each against all kept keys (decoding): the keys of a head, or of heads
// that share them, are split among WGs, so that these fill the GPU; a second kernel joins the
// parts.
//
// By which kernel: of the GPU's library, or of an inference engine (gpu.engine_attention). Those of
// FlashAttention choose the number of parts by rules of their own. FlashAttention-2
// (num_splits_heuristic): of blocks of keys, the least number of parts that fills 0.85 of the
// rounds of WGs that the best number fills; none where WGs for whole sequences already fill 0.8 of
// a round. FlashAttention-3, for sequences of any lengths (prepare_varlen_num_blocks): as many
// blocks a part as are a CU's and a tenth, at most what that rule gives for one sequence; up to
// four blocks are not split. vLLM's entry for pages splits only where heads share keys; nobody
// measured it where they do not, other engines split there, and so does weft.
#pragma once

#include "sim/models/op_kernel.h"

namespace weft {

// Whether it has too few queries for the matrix units: its keys are split.
bool splits_keys(const AttentionShape& shape);

// What these rules look at.
struct FlashWork {
  std::int64_t sequences = 1;
  std::int64_t heads = 1;   // of keys, of each sequence
  std::int64_t blocks = 1;  // of keys, of each of them
};
std::int64_t flash_parts(EngineKernel kernel, const FlashWork& work, std::int64_t cus);

OpKernel split_keys_kernel(const AttentionShape& shape, const GpuSpec& gpu);

}  // namespace weft
