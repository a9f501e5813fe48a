// Products whose weights are cut among the GPUs of a tensor-parallel group, and the collectives
// around them (Shoeybi et al., arXiv:1909.08053; Korthikanti et al., arXiv:2205.05198).
//
// Cut by columns, each GPU needs all tokens and makes some of the results; cut by rows, each has
// some of the inputs and makes a part of every sum. Backwards the two change places. With sequence
// parallelism a GPU keeps its own tokens only between the two: the input is gathered, and gathered
// again for the gradient of the weights; the sums are scattered. Without, sums are left with all.
//
// A product's two gradients may be made at different times (GradientOf): what the first has
// gathered of its output is kept for the second, which gathers the input again.
//
// What is gathered again is summed over: a product that needs all of it for each of its results.
// What comes behind that waits for it as well, so that the two are not taken for a pair to be
// fused.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "sim/models/block_writer.h"
#include "sim/models/decoder_shapes.h"

namespace weft {

// A GPU's part: `in` x `out` weights.
struct Linear {
  std::string name;
  std::string part;
  std::int64_t in = 0;
  std::int64_t out = 0;
};

class TensorParallel {
 public:
  // `made`: told how many weights have their gradients whenever a product's have.
  using OnGradient = std::function<void(std::int64_t weights)>;
  TensorParallel(BlockWriter& out, const DecoderShapes& shapes, PlaceId place, OnGradient made = {})
      : out_(out), shapes_(shapes), place_(place), made_(std::move(made)) {}

  OpId compute(const std::string& name, const std::string& part, OpShape shape,
               GradientOf of = GradientOf::inputs);

  // `names` begins the collective's name. None where there is nothing to do.
  OpId gather(const std::string& names, GradientOf of = GradientOf::inputs);
  OpId reduce(const std::string& names);

  void product(const Linear& linear);  // of all tokens
  // Both gradients of a product whose collectives are not this one's.
  void input_gradient(const Linear& linear);
  void weight_gradient(const Linear& linear);
  // Of other products, on these GPUs: m x n weights, k tokens.
  void weight_gradient(const std::string& name, const std::string& part, const Product& product,
                       PlaceId place, std::int64_t batch = 1);
  // To that of earlier microbatches, where a kernel of its own does so.
  void add_gradient(const std::string& name, const std::string& part, std::int64_t weights,
                    PlaceId place);

  // Column: gathers, then multiplies. Backward: sums up beside the weights' gradient.
  void column(const std::string& names, const Linear& linear);
  void column_backward(const std::string& names, const Linear& linear);

  // Row: multiplies, then sums up; nobody waits yet. Backward: gathers, then multiplies.
  OpId row(const std::string& names, const Linear& linear);
  void row_backward(const std::string& names, const Linear& linear);

  BlockWriter& out() { return out_; }
  [[nodiscard]] const DecoderShapes& shapes() const { return shapes_; }
  [[nodiscard]] PlaceId place() const { return place_; }

 private:
  BlockWriter& out_;
  const DecoderShapes& shapes_;
  PlaceId place_;
  OnGradient made_;
};

}  // namespace weft
