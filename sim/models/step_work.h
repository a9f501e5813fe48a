// What a step of a whole model does, in the numbers by which people compare models and machines:
// floating point operations (FLOP), tokens, samples; of all GPUs together.
//
// Only products of matrices count, with 2 m n k for C of m x n, as in all published counts. Model
// FLOPs (Chowdhery et al., PaLM, arXiv:2204.02311, appendix B) are those that the mathematics of
// the model needs, however it is split and whatever is computed again:
//
//   step = P x (2 x tokens x W  +  2 x rows x hidden x vocabulary  +  A)
//
//   P     training 3: the backward pass makes the gradients of both factors; else 1
//   W     weights of a token's products in all layers: attention, feed-forward, router; of experts
//         the shared ones and top_k of the others; modules that predict further tokens have a
//         layer and 2 hidden^2 each, and logits of all tokens once more
//   rows  tokens whose logits are needed: training all, else one per sequence
//   A     attention, of each layer, sequence and head: 2 x pairs x (head_dim + value_head_dim)
//
// The lookup in the embedding is none. `pairs` of a query and a key, of s tokens: s (s + 1) / 2, as
// a causal kernel computes them and newer releases of Megatron-LM count them (s^2 / 2); in layers
// with a window of w tokens w s - w (w - 1) / 2. PaLM and earlier releases count the masked ones
// too: s^2. One new token has s pairs either way, with a window w.
//
// Hardware FLOPs (Korthikanti et al., arXiv:2205.05198) are those that GPUs compute: also layers
// that are computed again (`recompute`), scores that the backward pass of attention computes again,
// and products that every GPU of a tensor-parallel group computes for itself.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/models/model_graph.h"
#include "sim/scenario/scenario.h"

namespace weft {

struct StepWork {
  double model_flops = 0;
  std::optional<double> full_attention_flops;  // model FLOPs with masked pairs; none: no attention
  double hardware_flops = 0;
  std::optional<std::int64_t> tokens;   // of a language model: those that it reads, or makes
  std::optional<std::int64_t> samples;  // of a recommendation model
  // Bytes, of a language model (scenario/decoder_memory.h).
  std::optional<double> memory_of_fullest_gpu = {};
};

// Of a model that a scenario describes; of recorded traces and single operators nothing.
std::optional<StepWork> work_of_step(const Scenario& scenario, const ModelGraph& graph);

// Of all products (GEMMs and attention) that the GPUs of a graph compute.
double product_flops(const ModelGraph& graph);

}  // namespace weft
