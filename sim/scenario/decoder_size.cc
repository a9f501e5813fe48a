#include "sim/scenario/decoder_size.h"

#include <algorithm>

namespace weft {
namespace {

std::int64_t divided_up(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

// Whether this stage has a layer more, where `extra` of `stages` have.
bool has_extra(int stage, int extra, int stages) {
  const int middle = std::max(0, stages - 2);
  if (stage > 0 && stage < stages - 1) return stage <= extra;
  return stage == 0 && extra > middle;
}

}  // namespace

HeadShare heads_of(const DecoderSpec& decoder, int tensor) {
  return {.heads = decoder.heads / tensor, .kv_heads = std::max(1, decoder.kv_heads / tensor)};
}

std::int64_t attention_weights(const DecoderSpec& decoder, int tensor) {
  const HeadShare share = heads_of(decoder, tensor);
  const std::int64_t hidden = decoder.hidden;
  const std::int64_t out = share.heads * decoder.value_head_dim * hidden;
  const std::int64_t queries = share.heads * decoder.head_dim;
  if (!decoder.latent) {
    return hidden * (queries + share.kv_heads * (decoder.head_dim + decoder.value_head_dim)) + out;
  }
  const LatentSpec& latent = *decoder.latent;
  const std::int64_t down = hidden * (latent.queries + latent.keys + latent.position);
  const std::int64_t of_a_head = decoder.head_dim - latent.position + decoder.value_head_dim;
  return down + latent.queries * queries + latent.keys * share.heads * of_a_head + out;
}

std::int64_t feed_forward_weights(const DecoderSpec& decoder, std::int64_t inner, int tensor) {
  return (decoder.gated ? 3 : 2) * decoder.hidden * (inner / tensor);
}

std::int64_t vocabulary_of(const DecoderSpec& decoder, int tensor) {
  return divided_up(decoder.vocabulary, tensor);
}

bool has_experts(const TransformerSpec& spec, int layer) {
  return spec.moe && layer >= spec.moe->dense_layers;
}

LayerWeights layer_weights(const TransformerSpec& spec, int layer) {
  const DecoderSpec& decoder = spec.decoder;
  const int tensor = spec.parallel.tensor;
  const std::int64_t norms = 2 * std::int64_t{decoder.hidden};
  LayerWeights weights{.common = attention_weights(decoder, tensor) + norms};
  if (!has_experts(spec, layer)) {
    weights.common += feed_forward_weights(decoder, decoder.inner, tensor);
    return weights;
  }
  const MoeSpec& moe = *spec.moe;
  const std::int64_t router = std::int64_t{decoder.hidden} * moe.experts;
  weights.common += router + feed_forward_weights(decoder, moe.shared_inner, tensor);
  weights.experts =
      moe.experts / spec.parallel.expert * feed_forward_weights(decoder, moe.inner, 1);
  return weights;
}

std::int64_t embedding_weights(const DecoderSpec& decoder, int tensor) {
  return decoder.hidden * (vocabulary_of(decoder, tensor) + decoder.positions);
}

std::int64_t head_weights(const TransformerSpec& spec) {
  const bool shared = spec.decoder.tied && spec.parallel.pipeline == 1;
  const std::int64_t rows = shared ? 0 : vocabulary_of(spec.decoder, spec.parallel.tensor);
  return spec.decoder.hidden * (rows + 1);
}

std::int64_t parameters_of(const TransformerSpec& spec) {
  TransformerSpec whole = spec;
  whole.parallel = {};
  std::int64_t sum = embedding_weights(spec.decoder, 1) + head_weights(whole);
  for (int layer = 0; layer < spec.decoder.layers; ++layer)
    sum += layer_weights(whole, layer).all();
  return sum;
}

StageLayers layers_of_stage(const TransformerSpec& spec, int stage) {
  const int stages = spec.parallel.pipeline;
  const int extra = spec.decoder.layers % stages;
  StageLayers layers;
  for (int s = 0; s <= stage; ++s) {
    layers.first += layers.count;
    layers.count = spec.decoder.layers / stages + (has_extra(s, extra, stages) ? 1 : 0);
  }
  return layers;
}

std::int64_t cached_elements(const DecoderSpec& decoder, int tensor) {
  if (decoder.latent) return decoder.latent->keys + decoder.latent->position;
  return heads_of(decoder, tensor).kv_heads * (decoder.head_dim + decoder.value_head_dim);
}

}  // namespace weft
