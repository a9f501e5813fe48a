// What the fullest GPU of a decoder has in its memory when it has most.
//
// Always there: weights, gradients, the optimiser's moments and copy of the weights (shared by the
// copies as `parallel.shard` says), and what `shard: parameters` has gathered; or, where nothing is
// trained, the keys and values of every token, and of the tokens that are computed (a prompt's, or
// one a sequence) 2 hidden and the larger half of one layer, as below, and the logits of the last.
//
// Training: a stage keeps what a part's backward pass needs from its forward until its backward
// pass, or until the gradients of weights where these are made apart. How many are kept at a time
// follows from the schedule's own steps (pipeline.h). Of a layer and token, in elements of the
// model's type, t GPUs sharing the layer (Korthikanti et al., arXiv:2205.05198, with attention that
// keeps no scores):
//
//   2 B of hidden (/ t with `sequence`)       masks, with `dropout`; one of the embedded tokens
//   4 hidden (/ t with `sequence`)            inputs of both norms and of what follows them
//   (heads (d + v) + kv_heads (d + v)) / t    queries, keys, values, result; 4 B a head besides
//   3 inner / t; not gated 2 inner / t        before and after the activation
//   2 (queries + keys) + position             latent attention: what heads are made from, before
//                                             and after its norms
//   top_k (hidden + 3 inner of an expert)     experts, of tokens / t
//
// With `fp8` what only products read again is kept as their fp8 operand: inputs after norms,
// results of the activation, inputs of experts (1 B each), and attention's result so, too. Weights
// of layers have casts as they lie and transposed (2 B), answers nothing but one cast (1 B), or
// `weights` packed in 4 bits and scales; routers and norms, which stay as they are, count as these.
//
// With `recompute: layer` only the layer's input, hidden, and all of one layer. With `selective`
// less by what is computed again (in one layer at a time all is there): core_attn the 4 B a head;
// layernorm 2 hidden; activation one inner; mlp, moe all of it; mla_up_proj queries, keys, values,
// and what they are made from after its norms. The head keeps its input and the logits, these also
// in fp32. A module that predicts a further token keeps a layer, 3 hidden of its inputs, and what a
// head keeps. Not counted: buffers of collectives, workspaces, what an allocator cannot use.
#pragma once

#include <string>

#include "sim/scenario/scenario.h"

namespace weft {

// In bytes.
struct MemoryUse {
  int stage = 0;
  int parts = 0;  // of microbatches, whose activations are kept
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double gathered = 0;
  double cached = 0;
  double activations = 0;
  double logits = 0;
  // Without what only some of a step needs.
  [[nodiscard]] double always() const {
    return weights + gradients + optimizer + gathered + cached;
  }
  [[nodiscard]] double all() const { return always() + activations + logits; }
};

// Of kinds transformer and moe; microbatches must divide, the schedule must be possible.
MemoryUse fullest_gpu(const Workload& workload);

// "weights 12.6 GB, activations 20.1 GB of 9 parts", the largest first, down to a
// thousandth of all.
std::string to_text(const MemoryUse& use);

// "12.6 GB", "157 GB".
std::string gigabytes_text(double size);

}  // namespace weft
