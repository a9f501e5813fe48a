// Products whose weights are split among the GPUs of a tensor-parallel group, and the collectives
// around them (Shoeybi et al., arXiv:1909.08053; Korthikanti et al., arXiv:2205.05198).
//
// Split by columns, each GPU needs all tokens and makes some of the results; split by rows, each
// has some of the inputs and makes a part of every sum. In the backward pass the two swap roles.
// With sequence parallelism a GPU keeps only its own tokens between the layers: inputs are
// gathered, and gathered again for the gradient of the weights; sums are scattered. Without it, all
// GPUs get the sums.
//
// A product's two gradients may be made at different times (GradientOf): the output gradients that
// were gathered for the first are kept for the second, which gathers the input again.
//
// What is gathered again is summed over by its product, which needs all of it for each result. The
// operator after that waits for the gather as well, so that gather and product are not taken for a
// pair that can be fused.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "sim/models/block_writer.h"
#include "sim/models/decoder_shapes.h"

namespace weft {

// One GPU's part of a product: `in` x `out` weights.
struct Linear {
  std::string name;
  std::string part;
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool plain = false;  // in the model's type, also where layers are in fp8
};

class TensorParallel {
 public:
  // `made` is called with the number of weights whenever gradients of a product's weights are made.
  using OnGradient = std::function<void(std::int64_t weights)>;
  TensorParallel(BlockWriter& out, const DecoderShapes& shapes, PlaceId place, OnGradient made = {})
      : out_(out), shapes_(shapes), place_(place), made_(std::move(made)) {}

  OpId compute(const std::string& name, const std::string& part, OpShape shape,
               GradientOf of = GradientOf::inputs);

  // `names`: prefix of the collective's name. Returns none if there is nothing to do.
  OpId gather(const std::string& names, GradientOf of = GradientOf::inputs);
  OpId reduce(const std::string& names);

  void product(const Linear& linear);  // of all tokens
  // The two gradients of a product, without any collectives; in fp8 the first casts for both.
  void input_gradient(const Linear& linear);
  void weight_gradient(const Linear& linear);
  // For other products, on the GPUs of `place`: m x n weights, k tokens.
  void weight_gradient(const std::string& name, const std::string& part, const Product& product,
                       PlaceId place, std::int64_t batch = 1);
  // Adds a gradient to that of earlier microbatches, if a separate kernel does so.
  void add_gradient(const std::string& name, const std::string& part, std::int64_t weights,
                    PlaceId place);

  // Column: gathers, then multiplies. Backward: sums concurrently with the weights' gradient.
  void column(const std::string& names, const Linear& linear);
  void column_backward(const std::string& names, const Linear& linear);

  // Row: multiplies, then sums; nothing waits for it yet. Backward: gathers, then multiplies.
  OpId row(const std::string& names, const Linear& linear);
  void row_backward(const std::string& names, const Linear& linear);

  // The input of a product by columns or by rows, where its backward pass has computed it again.
  void cast_column_again(const Linear& linear);
  void cast_row_again(const Linear& linear);

  BlockWriter& out() { return out_; }
  [[nodiscard]] const DecoderShapes& shapes() const { return shapes_; }
  [[nodiscard]] PlaceId place() const { return place_; }

 private:
  // Operands as products take them (casts.h).
  OpId gather_operand(const std::string& names, GradientOf of = GradientOf::inputs);
  void cast_kept(const std::string& name, std::int64_t width);
  void transpose_gathered(const std::string& name, std::int64_t width);
  void cast_weights(const Linear& linear);
  void cast_tokens(const Linear& linear, const char* what, std::int64_t width, CastWay way);
  void multiply(const Linear& linear);
  void multiply_gradient(const Linear& linear);

  BlockWriter& out_;
  const DecoderShapes& shapes_;
  PlaceId place_;
  OnGradient made_;
};

}  // namespace weft
