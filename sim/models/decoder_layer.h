// The operators of a decoder's layer, forward and backward, on one stage's GPUs.
#pragma once

#include <string>

#include "sim/models/tensor_parallel.h"

namespace weft {

// norm, queries keys and values, rotary positions, attention, its output, residual.
void attention_forward(TensorParallel& gpus);
void attention_backward(TensorParallel& gpus);

// A feed-forward of `inner` elements in all; `names` begins its operators' names ("mlp").
struct FeedForward {
  std::string names;
  std::int64_t inner = 0;
};
// Returns the collective that leaves its output, for which nobody waits yet; none where none does.
OpId feed_forward(TensorParallel& gpus, const FeedForward& layer);
void feed_forward_backward(TensorParallel& gpus, const FeedForward& layer);

// Around each half of a layer.
void norm(TensorParallel& gpus, const std::string& name);
void residual(TensorParallel& gpus, const std::string& name);
// With the gradient that went past on the residual's way.
void norm_backward(TensorParallel& gpus, const std::string& name);
// Part of it: the gradient of the norm's weights, a sum over tokens, is a kernel of its own.
void norm_weight_gradient(TensorParallel& gpus, const std::string& name);

// Of a thread, for an element of the inner layer: both halves of a gate's gradient are written as
// one tensor, each element of which computes its own sigmoid, half and addresses. 0: memory is the
// limit. [M] as torch.compile writes it, H200: 4.05 ps an element, times the rate of issue.
constexpr std::int64_t gate_instructions(const DecoderSpec& decoder) {
  return decoder.gated ? 135 : 0;
}

}  // namespace weft
