// Attention itself: on one GPU or, where several share each sequence (parallel.context), with what
// they exchange for it. Their tokens are those of a causal layout with equal work for all: of 2 n
// chunks of a sequence, GPU i of n has chunks i and 2 n - 1 - i.
//
// all_gather (Llama 3, arXiv:2407.21783, Sec. 3.3.2): keys and values are gathered before;
// backward, they are gathered again and their gradients are summed and scattered.
//
// ring (Ring Attention, arXiv:2310.01889, as Transformer Engine does it for Megatron-LM): n steps.
// In each, a GPU attends to the keys and values that it has, and sends them on to the next;
// backward their gradients, to which each GPU adds, follow them a step later, home.
//
// ulysses (DeepSpeed-Ulysses, arXiv:2309.14509): all-to-alls give each GPU some of the heads for
// all tokens, and its tokens' results back. Each has consecutive tokens. Heads of keys and values
// that are fewer than GPUs are sent to several.
#pragma once

#include "sim/models/tensor_parallel.h"

namespace weft {

// `own`: a GPU's queries, and the keys of whole sequences.
void attend(TensorParallel& gpus, const AttentionShape& own, PlaceId context);
void attend_backward(TensorParallel& gpus, const AttentionShape& own, PlaceId context);

}  // namespace weft
