// The operators of a decoder's layer, forward and backward, on one stage's GPUs.
#pragma once

#include <cstdint>
#include <string>

#include "sim/models/tensor_parallel.h"

namespace weft {

// The heads of one microbatch on one GPU, forward. `window`: of the layer (decoder_size.h).
AttentionShape attention_of(const DecoderShapes& shapes, std::int64_t window);

// Norm; queries, keys and values; rotary positions; attention; its output; residual. `context`: the
// groups that share sequences.
void attention_forward(TensorParallel& gpus, PlaceId context, std::int64_t window);
// What of it is computed again by itself (`recompute: selective`) comes right before what needs it,
// its norm first.
void attention_backward(TensorParallel& gpus, PlaceId context, std::int64_t window);

// A feed-forward layer of `inner` elements over all GPUs; `names`: prefix of its operators' names
// ("mlp").
struct FeedForward {
  std::string names;
  std::int64_t inner = 0;
  bool activates_again = false;  // the backward pass, by itself
};
// Returns the collective that makes its output, for which nothing waits yet; none if there is none.
OpId feed_forward(TensorParallel& gpus, const FeedForward& layer);
void feed_forward_backward(TensorParallel& gpus, const FeedForward& layer);
// Its input, of which only the norm has been computed again.
void cast_input_again(TensorParallel& gpus, const FeedForward& layer);

// Around each half of a layer.
// `of`: computed again, only the weights' gradients of what follows need it.
void norm(TensorParallel& gpus, const std::string& name, GradientOf of = GradientOf::inputs);
void residual(TensorParallel& gpus, const std::string& name);

// With model.dropout, of the tokens that a GPU has between tensor-parallel layers: forward of the
// embedded ones, whose mask it writes; backward, the gradient of what was dropped, by its mask.
void drop(TensorParallel& gpus, const std::string& name);
void drop_backward(TensorParallel& gpus, const std::string& name);
// Of `rows` tokens. `read`: as norm_backward_of (norm_backward.h); 3 with the gradient of the
// residual connection, which it adds.
void norm_backward(TensorParallel& gpus, const std::string& name, std::int64_t rows,
                   std::int64_t read);

// Instructions of a thread per element of the inner layer: both halves of a gate's gradient are
// written as one tensor; each of its elements computes its own sigmoid, half and addresses. 0:
// memory is the limit. [M] as torch.compile writes it, H200: 4.05 ps per element x issue rate.
constexpr std::int64_t gate_instructions(const DecoderSpec& decoder) {
  return decoder.gated ? 135 : 0;
}

}  // namespace weft
