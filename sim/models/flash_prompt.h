// FlashAttention-2's kernel of prompts (forward), where the GPU's library has it
// (gpu.library_attention.flash_2): a WG has 128 queries of a head and goes through its keys in
// blocks of 128 (heads of 64 elements) or 64. As many WGs share a CU as fit, two on an H200. Blocks
// of a head are numbered, and so begin, from the first to the last: under a causal mask the longest
// of them is the last to begin.
//
//   block  = start + products / rate + scores / exponentials   waits for the two in turn
//   under a mask + masked, and + ragged if tokens do not fill their blocks, or with a window (not
//   measured): masked steps of the loop are unrolled. One by itself on a CU takes 1 / alone of it.
#pragma once

#include "sim/models/op_kernel.h"

namespace weft {

// Not of heads of more than 128 elements, which have another kernel.
bool is_flash_prompt(const AttentionShape& shape, const GpuSpec& gpu);

OpKernel flash_prompt_kernel(const AttentionShape& shape, const GpuSpec& gpu);

}  // namespace weft
