// The sizes of one GPU's operators for one microbatch.
#pragma once

#include <cstdint>
#include <utility>

#include "sim/models/streams.h"
#include "sim/scenario/decoder_size.h"
#include "sim/scenario/scenario.h"

namespace weft {

// Which copies of a tensor in fp8 a pass makes: as it lies, or transposed, or both.
enum class CastWay : std::uint8_t { none, as_it_lies, transposed, both };

struct DecoderShapes {
  DecoderSpec decoder;
  ParallelSpec parallel;
  Phase phase = Phase::training;
  std::int64_t sequences = 0;  // per microbatch
  std::int64_t length = 0;     // tokens that the last query attends to
  std::int64_t queries = 0;    // new tokens per sequence, of those that share it a GPU's own
  std::int64_t tokens = 0;     // the same per microbatch
  std::int64_t kept = 0;       // those of them that a GPU has between tensor-parallel layers
  HeadShare share;
  Recomputed again;                     // what the backward pass computes again by itself
  DataType gradients = DataType::fp32;  // of weights
  bool adds = false;  // a separate kernel adds a gradient to that of earlier microbatches
  Fp8Scales fp8 = Fp8Scales::none;       // of layers' products
  bool scales_are_known = false;         // of each tensor: from earlier steps
  int packed = 0;                        // GemmShape::packed of layers' products ...
  int packed_experts = 0;                // ... and of experts'
  CastWay weight_casts = CastWay::none;  // in this pass
  CastWay input_casts = CastWay::none;   // of products, where a GPU has all that they sum over

  [[nodiscard]] bool in_fp8() const { return fp8 != Fp8Scales::none; }

  [[nodiscard]] bool drops() const { return decoder.dropout && phase == Phase::training; }
  [[nodiscard]] bool splits() const { return parallel.tensor > 1; }
  [[nodiscard]] bool keeps_its_tokens() const { return splits() && parallel.sequence; }
  [[nodiscard]] Bytes size(std::int64_t elements) const {
    return bytes_of(elements, decoder.dtype);
  }
  [[nodiscard]] StreamShape stream(const Elementwise& work) const {
    return stream_of(work, decoder.dtype);
  }
  // All new tokens' vectors: what tensor-parallel GPUs gather, add up or scatter.
  [[nodiscard]] Bytes activations() const { return size(tokens * decoder.hidden); }
};

DecoderShapes shapes_of(const Workload& workload);

// C of m x n; each element is the sum of k products.
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  GemmLayout layout = GemmLayout::linear;
  bool grouped = false;   // with others, of other sizes, in one kernel
  bool of_layer = false;  // in fp8 where the model's layers are
};
inline GemmShape gemm_of(const Product& p, DataType dtype, std::int64_t batch = 1) {
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .batch = batch,
          .dtype = dtype,
          .layout = p.layout,
          .grouped = p.grouped};
}

// A layer's product. Kernels of fp8 want both operands along k, as casts have made them; all that
// have scales of blocks keep their sums in fp32.
inline GemmShape as_layers_do(GemmShape gemm, const DecoderShapes& shapes, Fp8Sums sums) {
  gemm.packed = shapes.packed;
  if (!shapes.in_fp8()) return gemm;
  const bool all = shapes.fp8 == Fp8Scales::block && sums == Fp8Sums::fast;
  gemm.fp8 = shapes.fp8;
  gemm.sums = all ? Fp8Sums::in_fp32 : sums;
  gemm.layout = GemmLayout::linear;
  return gemm;
}

// For gradients of weights: if they are wider than the weights, each microbatch's GEMM adds to them
// (gradient accumulation fusion of Megatron-LM and Transformer Engine).
inline bool accumulates(DataType gradients, DataType weights) {
  return size_of(gradients) > size_of(weights);
}
inline GemmShape gradient_of(const Product& p, const DecoderShapes& shapes, std::int64_t batch) {
  GemmShape gemm = gemm_of(p, shapes.decoder.dtype, batch);
  gemm.layout = GemmLayout::tn;
  gemm.accumulates = accumulates(shapes.gradients, shapes.decoder.dtype);
  if (!p.of_layer) return gemm;
  return as_layers_do(std::move(gemm), shapes, Fp8Sums::in_fp32_of_two_blocks);
}

}  // namespace weft
