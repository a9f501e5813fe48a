#include "sim/scenario/decoder_size.h"

#include <algorithm>

namespace weft {
namespace {

std::int64_t divided_up(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

// The first and the last part.
bool ends_share_gpus(const ParallelSpec& parallel) {
  return parallel.pipeline == 1 || schedule_row(parallel.schedule).path == PipelinePath::vee;
}

// Whether this stage has a layer more, where `extra` of `stages` have.
bool has_extra(int stage, int extra, int stages) {
  const int middle = std::max(0, stages - 2);
  if (stage > 0 && stage < stages - 1) return stage <= extra;
  return stage == 0 && extra > middle;
}

}  // namespace

Recomputed recomputed_of(const TransformerSpec& spec) {
  if (spec.recompute != Recompute::selective) return {};
  if (!spec.recompute_modules) return {.core_attn = true};
  const auto names = [&](RecomputeModule module) {
    const std::vector<RecomputeModule>& all = *spec.recompute_modules;
    return std::find(all.begin(), all.end(), module) != all.end();
  };
  return {.core_attn = names(RecomputeModule::core_attn),
          .layernorm = names(RecomputeModule::layernorm),
          .activation = names(RecomputeModule::activation),
          .mla_up_proj = names(RecomputeModule::mla_up_proj),
          .mlp = names(RecomputeModule::mlp),
          .moe = names(RecomputeModule::moe)};
}

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

bool feeds_forward_again(const TransformerSpec& spec, int layer) {
  const Recomputed again = recomputed_of(spec);
  return has_experts(spec, layer) ? again.moe : again.mlp;
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
  weights.experts = moe.experts / spec.parallel.expert *
                    feed_forward_weights(decoder, moe.inner, spec.parallel.expert_tensor);
  return weights;
}

std::int64_t embedding_weights(const DecoderSpec& decoder, int tensor) {
  return decoder.hidden * (vocabulary_of(decoder, tensor) + decoder.positions);
}

bool has_own_vocabulary(const TransformerSpec& spec) {
  return !spec.decoder.tied || !ends_share_gpus(spec.parallel);
}

std::int64_t head_weights(const TransformerSpec& spec) {
  const std::int64_t rows =
      has_own_vocabulary(spec) ? vocabulary_of(spec.decoder, spec.parallel.tensor) : 0;
  return spec.decoder.hidden * (rows + 1);
}

LayerWeights mtp_weights(const TransformerSpec& spec, int module) {
  const std::int64_t hidden = spec.decoder.hidden;
  LayerWeights weights = layer_weights(spec, spec.decoder.layers + module);
  weights.common += 2 * hidden * (hidden / spec.parallel.tensor) + 3 * hidden;
  return weights;
}

std::int64_t embedding_copy_weights(const TransformerSpec& spec) {
  const bool there = spec.decoder.tied || ends_share_gpus(spec.parallel);
  if (spec.mtp_modules == 0 || there) return 0;
  return vocabulary_of(spec.decoder, spec.parallel.tensor) * spec.decoder.hidden;
}

std::int64_t parameters_of(const TransformerSpec& spec) {
  TransformerSpec whole = spec;
  whole.parallel = {};
  std::int64_t sum = embedding_weights(spec.decoder, 1) + head_weights(whole);
  for (int layer = 0; layer < spec.decoder.layers; ++layer)
    sum += layer_weights(whole, layer).all();
  return sum;
}

PipelineShape pipeline_of(const TransformerSpec& spec, bool trains) {
  return {.schedule = spec.parallel.schedule,
          .stages = spec.parallel.pipeline,
          .microbatches = static_cast<int>(microbatches_of(spec)),
          .virtual_stages = spec.parallel.virtual_stages,
          .trains = trains,
          .sends = spec.parallel.sends};
}

std::int64_t microbatches_of(const TransformerSpec& spec) {
  return spec.sequences / spec.microbatch / spec.parallel.data;
}

SharedLayers shared_layers(const TransformerSpec& spec) {
  const ParallelSpec& p = spec.parallel;
  SharedLayers shared{.layers = spec.decoder.layers, .parts = p.pipeline * p.virtual_stages};
  for (const int own : {p.first_layers, p.last_layers}) {
    if (own < 0) continue;
    shared.layers -= own;
    --shared.parts;
  }
  return shared;
}

StageLayers layers_of_part(const TransformerSpec& spec, int part) {
  const ParallelSpec& p = spec.parallel;
  const int parts = p.pipeline * p.virtual_stages;
  const SharedLayers shared = shared_layers(spec);
  const int each = shared.parts > 0 ? shared.layers / shared.parts : 0;
  const int extra = shared.parts > 0 ? shared.layers % shared.parts : 0;
  const auto count_of = [&](int i) {
    if (p.layers_of_parts.size() == static_cast<std::size_t>(parts)) {
      return static_cast<int>(p.layers_of_parts[static_cast<std::size_t>(i)]);
    }
    if (i == 0 && p.first_layers >= 0) return p.first_layers;
    if (i + 1 == parts && p.last_layers >= 0) return p.last_layers;
    return each + (has_extra(i, extra, parts) ? 1 : 0);
  };
  StageLayers layers;
  for (int i = 0; i <= part; ++i) {
    layers.first += layers.count;
    layers.count = count_of(i);
  }
  return layers;
}

LayerWeights part_weights(const TransformerSpec& spec, int part) {
  LayerWeights sum;
  const StageLayers layers = layers_of_part(spec, part);
  for (int i = 0; i < layers.count; ++i) sum += layer_weights(spec, layers.first + i);
  if (part == 0) sum.common += embedding_weights(spec.decoder, spec.parallel.tensor);
  const bool last = part + 1 == spec.parallel.pipeline * spec.parallel.virtual_stages;
  if (!last) return sum;
  sum.common += head_weights(spec) + embedding_copy_weights(spec);
  for (int i = 0; i < spec.mtp_modules; ++i) sum += mtp_weights(spec, i);
  return sum;
}

std::int64_t window_of(const DecoderSpec& decoder, int layer) {
  const bool sees_all = decoder.full_every > 0 && (layer + 1) % decoder.full_every == 0;
  return sees_all ? 0 : decoder.window;
}

std::int64_t cached_tokens(const DecoderSpec& decoder, StageLayers layers, std::int64_t length) {
  std::int64_t sum = 0;
  for (int i = 0; i < layers.count; ++i) {
    const std::int64_t window = window_of(decoder, layers.first + i);
    sum += window > 0 ? std::min(window, length) : length;
  }
  return sum;
}

std::int64_t cached_elements(const DecoderSpec& decoder, int tensor) {
  if (decoder.latent) return decoder.latent->keys + decoder.latent->position;
  return heads_of(decoder, tensor).kv_heads * (decoder.head_dim + decoder.value_head_dim);
}

}  // namespace weft
