// A module that predicts one token more than the model, or the module before, does (multi-token
// prediction, DeepSeek-V3, arXiv:2412.19437, Sec. 2.2): the vectors of the model's last layer, or
// of the module before, and the embedding of the next token, each through a norm, make one vector
// by a product; then come a layer, a norm, and the model's head and loss.
//
// Tensor-parallel GPUs share the product by columns and gather its results (Megatron-LM's
// eh_proj); with sequence parallelism its inputs are gathered, and gathered again for the gradient
// of its weights.
#pragma once

#include "sim/models/layer.h"

namespace weft {

class FurtherToken {
 public:
  FurtherToken(TensorParallel& gpus, Layer layer) : gpus_(gpus), layer_(layer) {}

  void forward();
  // Up to the gradients of the vectors that it began with; `last`: no module begins with its own.
  void backward(bool last);

 private:
  [[nodiscard]] Linear projection() const;
  // Of inputs of the product.
  [[nodiscard]] std::int64_t inputs() const;
  OpId gather_inputs(const char* name, GradientOf of = GradientOf::inputs);
  OpId reduce_inputs();
  void gather_results(const char* name);
  void project();
  void project_backward();

  TensorParallel& gpus_;
  Layer layer_;
};

// What comes back from the module that begins with these vectors is added to their gradients.
void add_further_gradient(TensorParallel& gpus);

}  // namespace weft
