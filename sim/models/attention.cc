// Attention: with heads of queries, keys and values, or with keys and values computed from one
// short (latent) vector per token (DeepSeek-V2, arXiv:2405.04434). For one new token per sequence
// the latter is never expanded into heads: their matrices are applied to the query and the result.
#include "sim/models/context_parallel.h"
#include "sim/models/decoder_layer.h"

namespace weft {
namespace {

constexpr const char* kPart = "attention";

bool absorbs(const DecoderShapes& shapes) {
  return shapes.decoder.latent && shapes.phase == Phase::decode;
}

Linear qkv(const DecoderShapes& shapes) {
  const DecoderSpec& d = shapes.decoder;
  return {.name = "qkv",
          .part = kPart,
          .in = d.hidden,
          .out = shapes.share.heads * d.head_dim +
                 shapes.share.kv_heads * (d.head_dim + d.value_head_dim)};
}

// Makes the short vectors of queries, and of keys and values; the same on all GPUs.
Linear latent_down(const DecoderShapes& shapes) {
  const LatentSpec& latent = *shapes.decoder.latent;
  return {.name = "latent_down",
          .part = kPart,
          .in = shapes.decoder.hidden,
          .out = latent.queries + latent.keys + latent.position};
}

Linear query_up(const DecoderShapes& shapes) {
  return {.name = "query_up",
          .part = kPart,
          .in = shapes.decoder.latent->queries,
          .out = shapes.share.heads * shapes.decoder.head_dim};
}

// The elements of a head's keys that carry no position.
std::int64_t plain_dim(const DecoderSpec& decoder) {
  return decoder.head_dim - decoder.latent->position;
}

Linear key_value_up(const DecoderShapes& shapes) {
  const DecoderSpec& d = shapes.decoder;
  return {.name = "key_value_up",
          .part = kPart,
          .in = d.latent->keys,
          .out = shapes.share.heads * (plain_dim(d) + d.value_head_dim)};
}

Linear attn_out(const DecoderShapes& shapes) {
  return {.name = "attn_out",
          .part = kPart,
          .in = shapes.share.heads * shapes.decoder.value_head_dim,
          .out = shapes.decoder.hidden};
}

void rotate(TensorParallel& gpus, const std::string& name) {
  const DecoderShapes& shapes = gpus.shapes();
  const DecoderSpec& d = shapes.decoder;
  if (d.positions > 0) return;
  const std::int64_t elements = d.latent
                                    ? (shapes.share.heads + 1) * d.latent->position
                                    : (shapes.share.heads + shapes.share.kv_heads) * d.head_dim;
  gpus.compute(
      name, kPart,
      shapes.stream(
          {.elements = shapes.tokens * elements, .read = 1, .written = 1, .operations = 3}));
}

void norm_latent(TensorParallel& gpus, const Elementwise& one) {
  const DecoderShapes& shapes = gpus.shapes();
  const LatentSpec& latent = *shapes.decoder.latent;
  Elementwise work = one;
  work.elements = shapes.tokens * (latent.queries + latent.keys);
  gpus.compute(one.read > 1 ? "latent_norm_backward" : "latent_norm", "norm", shapes.stream(work));
}

// One product per head: all tokens, k elements in, n out.
void by_head(TensorParallel& gpus, const char* name, std::int64_t n, std::int64_t k) {
  const DecoderShapes& shapes = gpus.shapes();
  gpus.compute(
      name, kPart,
      gemm_of({.m = shapes.tokens, .n = n, .k = k}, shapes.decoder.dtype, shapes.share.heads));
}

// From the short vectors.
void latent_up(TensorParallel& gpus) {
  const DecoderShapes& shapes = gpus.shapes();
  norm_latent(gpus, {.read = 1, .written = 1, .operations = 4});
  gpus.product(query_up(shapes));
  if (absorbs(shapes)) {
    by_head(gpus, "query_absorb", shapes.decoder.latent->keys, plain_dim(shapes.decoder));
  } else {
    gpus.product(key_value_up(shapes));
  }
}

void latent_forward(TensorParallel& gpus) {
  gpus.column("attn", latent_down(gpus.shapes()));
  latent_up(gpus);
}

void latent_backward(TensorParallel& gpus) {
  const DecoderShapes& shapes = gpus.shapes();
  for (const Linear& linear : {key_value_up(shapes), query_up(shapes)}) {
    gpus.input_gradient(linear);
    gpus.weight_gradient(linear);
  }
  norm_latent(gpus, {.read = 2, .written = 1, .operations = 8});
  gpus.column_backward("attn", latent_down(shapes));
}

}  // namespace

AttentionShape attention_of(const DecoderShapes& shapes, std::int64_t window) {
  const DecoderSpec& d = shapes.decoder;
  AttentionShape shape{.batch = shapes.sequences,
                       .heads = shapes.share.heads,
                       .kv_heads = d.latent ? shapes.share.heads : shapes.share.kv_heads,
                       .head_dim = d.head_dim,
                       .value_head_dim = d.value_head_dim,
                       .queries = shapes.queries,
                       .keys = shapes.length,
                       .causal = true,
                       .window = window < shapes.length ? window : 0,
                       .dtype = d.dtype};
  if (absorbs(shapes)) {  // all heads look at the same short vectors
    shape.kv_heads = 1;
    shape.head_dim = d.latent->keys + d.latent->position;
    shape.value_head_dim = d.latent->keys;
  } else {
    shape.engine = shapes.phase == Phase::decode;
  }
  return shape;
}

void attention_forward(TensorParallel& gpus, PlaceId context, std::int64_t window) {
  const DecoderShapes& shapes = gpus.shapes();
  norm(gpus, "attn_norm");
  if (shapes.decoder.latent) {
    latent_forward(gpus);
  } else {
    gpus.column("attn", qkv(shapes));
  }
  rotate(gpus, "rotary");
  attend(gpus, attention_of(shapes, window), context);
  if (absorbs(shapes)) {
    by_head(gpus, "value_absorb", shapes.decoder.value_head_dim, shapes.decoder.latent->keys);
  }
  gpus.out().wait_for(gpus.row("attn_out", attn_out(shapes)));
  residual(gpus, "attn_residual");
}

void attention_backward(TensorParallel& gpus, PlaceId context, std::int64_t window) {
  const DecoderShapes& shapes = gpus.shapes();
  if (shapes.again.layernorm) {
    norm(gpus, "attn_norm", GradientOf::weights);
    gpus.cast_column_again(shapes.decoder.latent ? latent_down(shapes) : qkv(shapes));
  }
  drop_backward(gpus, "attn");
  gpus.row_backward("attn_out", attn_out(shapes));
  if (shapes.again.mla_up_proj) {
    latent_up(gpus);
    rotate(gpus, "rotary");
  }
  if (shapes.again.core_attn) attend(gpus, attention_of(shapes, window), context);
  attend_backward(gpus, attention_of(shapes, window), context);
  rotate(gpus, "rotary_backward");
  if (shapes.decoder.latent) {
    latent_backward(gpus);
  } else {
    gpus.column_backward("attn", qkv(shapes));
  }
  norm_backward(gpus, "attn_norm", gpus.shapes().kept, 3);
}

}  // namespace weft
