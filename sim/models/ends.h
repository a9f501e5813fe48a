// What comes before a decoder's first layer and after its last.
#pragma once

#include <cstdint>

#include "sim/models/tensor_parallel.h"

namespace weft {

// Instructions of a thread per logit: conversions, comparisons, exponentials. [M] as torch.compile
// writes them, H200: 1.42 and 1.35 ps per logit x issue rate.
constexpr std::int64_t kLossInstructions = 47;
constexpr std::int64_t kLossGradientInstructions = 45;

// Looks up the vectors of tokens in the part of the vocabulary that a GPU has.
void token_embedding(TensorParallel& gpus);
void token_embedding_backward(TensorParallel& gpus);

// The last norm and the logits. Training: those of all tokens, and their loss; otherwise those of
// each sequence's last token, gathered.
void head(TensorParallel& gpus);
void head_backward(TensorParallel& gpus);

}  // namespace weft
