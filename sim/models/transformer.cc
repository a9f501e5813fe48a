#include "sim/models/transformer.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sim/models/decoder_layer.h"
#include "sim/models/ends.h"
#include "sim/models/gradients.h"
#include "sim/models/moe.h"
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
    if (spec_.moe) {
      routed_ = route(*spec_.moe, spec_.parallel.expert, shapes_.tokens / spec_.parallel.tensor);
    }
    for (int s = 0; s < spec_.parallel.pipeline; ++s) {
      stages_.push_back(stage_of(graph_, spec_, s));
      gradients_.emplace_back(out_, workload_, stages_.back());
    }
    inputs_.resize(stages_.size(), Ends(static_cast<std::size_t>(microbatches_)));
    outputs_ = inputs_;
    computed_.resize(stages_.size(), OpId::none());
    gradients_sent_ = computed_;
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
        if (!sends_beside_sums(step)) backward(stage, step);
        return;
      case Kind::send_forward:
        out_.begin_block(text_of(step) + "send_forward");
        at(inputs_, {step.kind, step.stage + 1, step.microbatch}).forward =
            send("send_forward", stage.ahead, at(outputs_, step).forward, step.stage + 1);
        return;
      case Kind::send_backward:
        if (sends_beside_sums(step)) {
          return backward(stage, {Kind::backward, step.stage, step.microbatch});
        }
        out_.begin_block(text_of(step) + "send_backward");
        return send_back(stage, step);
    }
  }

  // The last gradients that leave a stage share its NICs with sums of its weights' gradients.
  [[nodiscard]] bool sends_beside_sums(const PipelineStep& step) const {
    return step.microbatch + 1 == microbatches_ && step.stage > 0 &&
           gradients_[static_cast<std::size_t>(step.stage)].are_summed();
  }

  void send_back(const Stage& stage, const PipelineStep& step) {
    OpId& sent = gradients_sent_[static_cast<std::size_t>(step.stage)];
    sent = send("send_backward", stage.back, at(outputs_, step).backward, step.stage - 1);
    at(inputs_, {step.kind, step.stage - 1, step.microbatch}).backward = sent;
  }

  std::string text_of(const PipelineStep& step) const {
    return fmt::format("stage {}, microbatch {}: ", step.stage, step.microbatch);
  }

  // The receiver's kernel comes behind what it has begun to compute: one that waited beside that
  // would hold its CUs.
  OpId send(const char* name, PlaceId pairs, OpId what, int receiver) {
    std::vector<OpId> after{what};
    const OpId begun = computed_[static_cast<std::size_t>(receiver)];
    if (!begun.is_none()) after.push_back(begun);
    return out_.add({.name = name,
                     .part = "send",
                     .shape = even_call(CollectiveOp::point_to_point,
                                        shapes_.size(shapes_.kept * shapes_.decoder.hidden)),
                     .place = pairs,
                     .stream = kPipeline,
                     .after = std::move(after)});
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
      layer_forward(gpus, stage, layer);
    }
    if (stage.last) {
      out_.begin_block(text_of(step) + "head");
      head(gpus);
    }
    computed_[static_cast<std::size_t>(stage.index)] = out_.last();
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
      layer_backward(gpus, stage, layer);
      ready(layer_weights(spec_, layer));
    }
    if (stage.first) {
      out_.begin_block(text_of(step) + "backward of the embedding");
      gradients.sum_up();
      token_embedding_backward(gpus);
      ready({.common = embedding_weights(spec_.decoder, tensor)});
    }
    computed_[static_cast<std::size_t>(stage.index)] = out_.last();
    at(outputs_, step).backward = out_.last();
    if (!gradients.wait()) return;
    out_.begin_block(fmt::format("stage {}: gradients of its first weights", stage.index));
    gradients.sum_up();
    if (sends_beside_sums(step)) send_back(stage, step);
  }

  void layer_forward(TensorParallel& gpus, const Stage& stage, int layer) {
    attention_forward(gpus);
    norm(gpus, "mlp_norm");
    if (has_experts(spec_, layer)) {
      Experts(gpus, *spec_.moe, routed_, stage.experts).forward();
    } else {
      out_.wait_for(feed_forward(gpus, {.names = "mlp", .inner = spec_.decoder.inner}));
    }
    residual(gpus, "mlp_residual");
  }

  void layer_backward(TensorParallel& gpus, const Stage& stage, int layer) {
    if (spec_.recompute == Recompute::layer) layer_forward(gpus, stage, layer);
    if (has_experts(spec_, layer)) {
      Experts(gpus, *spec_.moe, routed_, stage.experts).backward();
    } else {
      feed_forward_backward(gpus, {.names = "mlp", .inner = spec_.decoder.inner});
    }
    norm_backward(gpus, "mlp_norm");
    attention_backward(gpus);
  }

  void update() {
    if (spec_.decoder.tied && stages_.size() > 1) add_up_tied();
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      gradients_[s].update(weights_of(spec_, stages_[s]), gradients_sent_[s]);
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
  RoutedTokens routed_;
  int microbatches_;
  BlockWriter out_{graph_};
  std::vector<Stage> stages_;
  std::vector<Gradients> gradients_;
  std::vector<Ends> inputs_;          // what each stage receives; none at the ends
  std::vector<Ends> outputs_;         // what it computed last
  std::vector<OpId> computed_;        // the same, by stage alone
  std::vector<OpId> gradients_sent_;  // by stage: the last send to the one before
};

}  // namespace

ModelGraph build_transformer(const Workload& workload) { return Transformer(workload).build(); }

}  // namespace weft
