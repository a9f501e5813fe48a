// How large a decoder is, as one GPU holds it: what both its checks and its operators need to know.
#pragma once

#include <cstdint>

#include "sim/scenario/model_spec.h"

namespace weft {

// Of one GPU of `tensor` that share each layer.
struct HeadShare {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // at least one: fewer than GPUs are there several times
};
HeadShare heads_of(const DecoderSpec& decoder, int tensor);

// With `recompute: selective`.
Recomputed recomputed_of(const TransformerSpec& spec);

std::int64_t attention_weights(const DecoderSpec& decoder, int tensor);
// Of `inner` in all; the GPU has a tensor-th.
std::int64_t feed_forward_weights(const DecoderSpec& decoder, std::int64_t inner, int tensor);
std::int64_t vocabulary_of(const DecoderSpec& decoder, int tensor);  // rounded up

struct LayerWeights {
  std::int64_t common = 0;   // alike on all data-parallel GPUs
  std::int64_t experts = 0;  // alike on those with the same experts
  [[nodiscard]] std::int64_t all() const { return common + experts; }
  LayerWeights& operator+=(const LayerWeights& more) {
    common += more.common;
    experts += more.experts;
    return *this;
  }
};
LayerWeights layer_weights(const TransformerSpec& spec, int layer);
std::int64_t embedding_weights(const DecoderSpec& decoder, int tensor);
// With the last norm; without the vocabulary where the embedding is on the same GPU and the same.
bool has_own_vocabulary(const TransformerSpec& spec);
std::int64_t head_weights(const TransformerSpec& spec);

bool has_experts(const TransformerSpec& spec, int layer);
// Whether the layer's whole feed-forward, or experts, are computed again.
bool feeds_forward_again(const TransformerSpec& spec, int layer);

// Of a module that predicts a further token, on the last part's GPUs: its layer, what makes the
// layer's input of two vectors, three norms. It shares embedding and head.
LayerWeights mtp_weights(const TransformerSpec& spec, int module);
// The embedding once more, where such modules and the first layer are on different GPUs.
std::int64_t embedding_copy_weights(const TransformerSpec& spec);

// All parameters of the model, each counted once, without what predicts further tokens.
std::int64_t parameters_of(const TransformerSpec& spec);

// Its pipeline: the schedule is one of training.
PipelineShape pipeline_of(const TransformerSpec& spec, bool trains);
std::int64_t microbatches_of(const TransformerSpec& spec);  // of each copy of the model

// Layers are shared out evenly among the pipeline's parts (pipeline.h); where they do not divide,
// the middle parts have one more, then the first, for the last has the head besides (as Llama 3
// 405B: 126 layers on 16 stages). Where the first or the last part has a number of its own, the
// others share the rest; or each part has one (`layers_of_parts`).
struct StageLayers {
  int first = 0;
  int count = 0;
};
StageLayers layers_of_part(const TransformerSpec& spec, int part);
struct SharedLayers {
  int layers = 0;  // that are left
  int parts = 0;   // for so many parts
};
SharedLayers shared_layers(const TransformerSpec& spec);

// All weights of one part on one of its GPUs, with the embedding and the head where it has them.
LayerWeights part_weights(const TransformerSpec& spec, int part);

// Tokens that one of this layer sees, its own included; 0: all before it.
std::int64_t window_of(const DecoderSpec& decoder, int layer);

// Tokens of a sequence whose keys and values all layers together keep for a next one.
std::int64_t cached_tokens(const DecoderSpec& decoder, StageLayers layers, std::int64_t length);
// Elements of one token that one layer keeps for the tokens after it, on one GPU.
std::int64_t cached_elements(const DecoderSpec& decoder, int tensor);

}  // namespace weft
