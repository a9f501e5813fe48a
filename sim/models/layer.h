// A whole layer of a decoder: attention, then the feed-forward or the experts.
#pragma once

#include "sim/models/moe_router.h"
#include "sim/models/stage.h"
#include "sim/models/tensor_parallel.h"

namespace weft {

class Layer {
 public:
  // `routed`: tokens on their way to experts, alike in all layers. `index`: of all layers; behind
  // the last are those that predict further tokens.
  Layer(TensorParallel& gpus, const TransformerSpec& spec, const RoutedTokens& routed,
        const Stage& stage, int index)
      : gpus_(gpus), spec_(spec), routed_(routed), stage_(stage), index_(index) {}

  void forward();
  // With what is computed again before.
  void backward();

 private:
  void mlp_forward();
  void mlp_backward();
  void compute_mlp_again();

  TensorParallel& gpus_;
  const TransformerSpec& spec_;
  const RoutedTokens& routed_;
  const Stage& stage_;
  int index_;
};

}  // namespace weft
