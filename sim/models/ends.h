// What stands before the first layer of a decoder and behind the last.
#pragma once

#include <cstdint>

#include "sim/models/tensor_parallel.h"

namespace weft {

// Of a thread, for a logit: conversions, comparisons, exponentials. [M] as torch.compile writes
// them, H200: 1.42 and 1.35 ps a logit, times the rate of issue.
constexpr std::int64_t kLossInstructions = 47;
constexpr std::int64_t kLossGradientInstructions = 45;

// Vectors of tokens, of the part of the vocabulary that a GPU has.
void token_embedding(TensorParallel& gpus);
void token_embedding_backward(TensorParallel& gpus);

// The last norm and the logits: of all tokens, training, with their loss; else of each sequence's
// last token, and gathered.
void head(TensorParallel& gpus);
void head_backward(TensorParallel& gpus);

}  // namespace weft
