#include "sim/models/layer.h"

#include "sim/models/decoder_layer.h"
#include "sim/models/moe.h"

namespace weft {

void Layer::forward() {
  attention_forward(gpus_, stage_.context, window_of(spec_.decoder, index_));
  norm(gpus_, "mlp_norm");
  mlp_forward();
  residual(gpus_, "mlp_residual");
}

void Layer::mlp_forward() {
  if (has_experts(spec_, index_)) {
    Experts(gpus_, *spec_.moe, routed_, stage_).forward();
  } else {
    gpus_.out().wait_for(feed_forward(gpus_, {.names = "mlp", .inner = spec_.decoder.inner}));
  }
}

void Layer::mlp_backward() {
  if (has_experts(spec_, index_)) {
    return Experts(gpus_, *spec_.moe, routed_, stage_).backward();
  }
  const Recomputed& again = gpus_.shapes().again;
  feed_forward_backward(gpus_, {.names = "mlp",
                                .inner = spec_.decoder.inner,
                                .activates_again = again.activation && !again.mlp});
}

// Where the layer is not computed again as a whole.
void Layer::compute_mlp_again() {
  const bool again = feeds_forward_again(spec_, index_);
  if (gpus_.shapes().again.layernorm) {
    norm(gpus_, "mlp_norm", again ? GradientOf::inputs : GradientOf::weights);
    if (!again && !has_experts(spec_, index_)) {
      cast_input_again(gpus_, {.names = "mlp", .inner = spec_.decoder.inner});
    }
  }
  if (again) mlp_forward();
}

void Layer::backward() {
  if (spec_.recompute == Recompute::layer) forward();
  compute_mlp_again();
  drop_backward(gpus_, "mlp");
  mlp_backward();
  norm_backward(gpus_, "mlp_norm", gpus_.shapes().kept, 3);
  attention_backward(gpus_, stage_.context, window_of(spec_.decoder, index_));
}

}  // namespace weft
