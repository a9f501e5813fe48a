#include "sim/models/transformer.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sim/core/assert.h"
#include "sim/models/decoder_layer.h"
#include "sim/models/ends.h"
#include "sim/models/gradients.h"
#include "sim/models/pipeline.h"
#include "sim/models/stage.h"

namespace weft {
namespace {

using Kind = PipelineStep::Kind;

// All weights of a stage on one of its GPUs.
LayerWeights weights_of(const TransformerSpec& spec, const Stage& stage) {
  LayerWeights sum;
  const int tensor = spec.parallel.tensor;
  if (stage.first) sum.common += embedding_weights(spec.decoder, tensor);
  if (stage.last) sum.common += head_weights(spec);
  for (int i = 0; i < stage.layers.count; ++i) {
    const LayerWeights layer = layer_weights(spec, stage.layers.first + i);
    sum.common += layer.common;
    sum.experts += layer.experts;
  }
  return sum;
}

class Transformer {
 public:
  explicit Transformer(const Workload& workload)
      : workload_(workload),
        spec_(workload.transformer),
        shapes_(shapes_of(workload)),
        microbatches_(static_cast<int>(spec_.sequences / spec_.microbatch / spec_.parallel.data)) {
    for (int s = 0; s < spec_.parallel.pipeline; ++s) {
      stages_.push_back(stage_of(graph_, spec_, s));
      gradients_.emplace_back(out_, workload_, stages_.back());
    }
    inputs_.resize(stages_.size(), Ends(static_cast<std::size_t>(microbatches_)));
    outputs_ = inputs_;
  }

  ModelGraph build() {
    const bool trains = workload_.phase == Phase::training;
    for (const PipelineStep& step : pipeline_order({.stages = spec_.parallel.pipeline,
                                    .microbatches = microbatches_,
                                    .trains = trains})) {
      run(step);
    }
    if (trains) update();
    return std::move(graph_);
  }

 private:
  // Of each microbatch, on one stage: the operator behind which it goes on, forward and backward.
  struct End {
    OpId forward = OpId::none();
    OpId backward = OpId::none();
  };
  using Ends = std::vector<End>;

  static End& at(std::vector<Ends>& ends, const PipelineStep& step) {
    return ends[static_cast<std::size_t>(step.stage)][static_cast<std::size_t>(step.microbatch)];
  }

  void run(const PipelineStep& step) {
    const Stage& stage = stages_[static_cast<std::size_t>(step.stage)];
    switch (step.kind) {
      case Kind::forward:
        return forward(stage, step);
      case Kind::backward:
        return backward(stage, step);
      case Kind::send_forward:
        at(inputs_, {step.kind, step.stage + 1, step.microbatch}).forward =
            send(step, "send_forward", stage.ahead, at(outputs_, step).forward);
        return;
      case Kind::send_backward:
        at(inputs_, {step.kind, step.stage - 1, step.microbatch}).backward =
            send(step, "send_backward", stage.back, at(outputs_, step).backward);
        return;
    }
  }

  std::string text_of(const PipelineStep& step) const {
    return fmt::format("stage {}, microbatch {}: ", step.stage, step.microbatch);
  }

  OpId send(const PipelineStep& step, const char* name, PlaceId pairs, OpId what) {
    out_.begin_block(text_of(step) + name);
    return out_.add({.name = name,
                     .part = "send",
                     .shape = even_call(CollectiveOp::point_to_point,
                                        shapes_.size(shapes_.kept * shapes_.decoder.hidden)),
                     .place = pairs,
                     .stream = kPipeline,
                     .after = {what}});
  }

  // From the stage before, or of this stage's own making.
  void continue_from(OpId received, OpId own) {
    out_.continue_from(received.is_none() ? own : received);
    out_.wait_for(received);
  }

  void forward(const Stage& stage, const PipelineStep& step) {
    TensorParallel gpus(out_, shapes_, stage.tensor);
    continue_from(at(inputs_, step).forward, OpId::none());
    if (stage.first) {
      out_.begin_block(text_of(step) + "embedding");
      token_embedding(gpus);
    }
    for (int i = 0; i < stage.layers.count; ++i) {
      const int layer = stage.layers.first + i;
      out_.begin_block(text_of(step) + fmt::format("forward of layer {}", layer));
      layer_forward(gpus, layer);
    }
    if (stage.last) {
      out_.begin_block(text_of(step) + "head");
      head(gpus);
    }
    at(outputs_, step).forward = out_.last();
  }

  // Of the last microbatch, each block also adds up the gradients of the block before.
  void backward(const Stage& stage, const PipelineStep& step) {
    TensorParallel gpus(out_, shapes_, stage.tensor);
    Gradients& gradients = gradients_[static_cast<std::size_t>(stage.index)];
    const bool is_last = step.microbatch + 1 == microbatches_;
    const int tensor = spec_.parallel.tensor;
    continue_from(at(inputs_, step).backward, at(outputs_, step).forward);
    const auto ready = [&](const LayerWeights& weights) {
      if (is_last) gradients.are_ready(weights);
    };
    if (stage.last) {
      out_.begin_block(text_of(step) + "backward of the head");
      head_backward(gpus);
      ready({.common = head_weights(spec_)});
    }
    for (int i = stage.layers.count - 1; i >= 0; --i) {
      const int layer = stage.layers.first + i;
      out_.begin_block(text_of(step) + fmt::format("backward of layer {}", layer));
      gradients.sum_up();
      layer_backward(gpus, layer);
      ready(layer_weights(spec_, layer));
    }
    if (stage.first) {
      out_.begin_block(text_of(step) + "backward of the embedding");
      gradients.sum_up();
      token_embedding_backward(gpus);
      ready({.common = embedding_weights(spec_.decoder, tensor)});
    }
    at(outputs_, step).backward = out_.last();
    if (!gradients.wait()) return;
    out_.begin_block(fmt::format("stage {}: gradients of its first weights", stage.index));
    gradients.sum_up();
  }

  void layer_forward(TensorParallel& gpus, int) {
    attention_forward(gpus);
    norm(gpus, "mlp_norm");
    out_.wait_for(feed_forward(gpus, {.names = "mlp", .inner = spec_.decoder.inner}));
    residual(gpus, "mlp_residual");
  }

  void layer_backward(TensorParallel& gpus, int layer) {
    if (spec_.recompute == Recompute::layer) layer_forward(gpus, layer);
    feed_forward_backward(gpus, {.names = "mlp", .inner = spec_.decoder.inner});
    norm_backward(gpus, "mlp_norm");
    attention_backward(gpus);
  }

  void update() {
    if (spec_.decoder.tied && stages_.size() > 1) add_up_tied();
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      gradients_[s].update(weights_of(spec_, stages_[s]));
    }
  }

  // The embedding is the head's too: both ends have gradients of it.
  void add_up_tied() {
    const std::size_t last = static_cast<std::size_t>(microbatches_) - 1;
    out_.begin_block("gradients of the tied embedding");
    const std::int64_t weights =
        vocabulary_of(spec_.decoder, spec_.parallel.tensor) * spec_.decoder.hidden;
    const OpId sum = out_.add(
        {.name = "tied_gradient_sum",
         .part = "all_reduce",
         .shape = even_call(CollectiveOp::all_reduce, bytes_of(weights, workload_.gradients)),
         .place = ends_of_pipeline(graph_, spec_.parallel),
         .stream = kDataParallel,
         .after = {outputs_.front()[last].backward, outputs_.back()[last].backward}});
    gradients_.front().wait_for(sum);
    gradients_.back().wait_for(sum);
  }

  ModelGraph graph_;
  const Workload& workload_;
  const TransformerSpec& spec_;
  DecoderShapes shapes_;
  int microbatches_;
  BlockWriter out_{graph_};
  std::vector<Stage> stages_;
  std::vector<Gradients> gradients_;
  std::vector<Ends> inputs_;   // what each stage receives; none at the ends
  std::vector<Ends> outputs_;  // what it computed last
};

}  // namespace

ModelGraph build_transformer(const Workload& workload) {
  SIM_ASSERT(!workload.transformer.moe);
  return Transformer(workload).build();
}

}  // namespace weft
