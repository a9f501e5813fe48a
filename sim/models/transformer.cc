// A decoder-only language model, dense or with experts: a training step, a prompt or one token
// more.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sim/models/ends.h"
#include "sim/models/further_token.h"
#include "sim/models/gradients.h"
#include "sim/models/layer.h"
#include "sim/models/model_graph.h"
#include "sim/models/overlapped_passes.h"
#include "sim/models/parameters.h"
#include "sim/models/pipeline_sends.h"
#include "sim/models/posted_receives.h"
#include "sim/models/stage.h"
#include "sim/pipeline/pipeline.h"

namespace weft {
namespace {

using Kind = PipelineStep::Kind;

class Transformer {
 public:
  explicit Transformer(const Scenario& scenario)
      : workload_(scenario.workload),
        spec_(workload_.transformer),
        shapes_(shapes_of(workload_)),
        pipeline_(pipeline_of(spec_, workload_.phase == Phase::training)),
        sums_beside_layers_(!has_a_choice_of_sends(schedule_row(pipeline_.schedule))),
        posted_(pipeline_, spec_.parallel, scenario.cluster.gpus_per_node, sent_size()) {
    if (spec_.moe) {
      const int gpus = spec_.parallel.expert;
      const bool once = spec_.moe->exchange == TokenExchange::once;
      routed_ =
          route(*spec_.moe, gpus, shapes_.tokens / spec_.parallel.tensor, scenario.run.seed,
                once ? exchanging_of_node(spec_.parallel, scenario.cluster.gpus_per_node) : 1);
    }
    for (int s = 0; s < pipeline_.stages; ++s) {
      for (int i = 0; i < pipeline_.virtual_stages; ++i) {
        stages_.push_back(stage_of(graph_, spec_, pipeline_, {s, i}));
        parameters_.emplace_back(out_, workload_, stages_.back());
      }
      gradients_.emplace_back(out_, workload_, stages_.back());
    }
    inputs_.resize(stages_.size(), Ends(static_cast<std::size_t>(pipeline_.microbatches)));
    outputs_ = inputs_;
    computed_.resize(gradients_.size(), OpId::none());
    gradients_sent_ = computed_;
  }

  ModelGraph build() {
    std::vector<WrittenStep> written;
    for (const PipelineStep& step : pipeline_order(pipeline_)) {
      const bool beside_last = !written.empty() && written.back().overlaps_next;
      if (!beside_last) before_pass_ = computed_[static_cast<std::size_t>(step.stage)];
      written.push_back({graph_.ops.next_id(), step.overlaps_next && !sends_in_turns(pipeline_)});
      run(step);
    }
    if (pipeline_.trains) update();
    return with_overlaps(std::move(graph_), written);
  }

 private:
  // For each microbatch, in one place: the operator after which it continues, forward and backward.
  struct End {
    OpId forward = OpId::none();
    OpId backward = OpId::none();
  };
  using Ends = std::vector<End>;

  [[nodiscard]] std::size_t index(const PipelinePlace& place) const {
    const int index = place.stage * pipeline_.virtual_stages + place.virtual_stage;
    return static_cast<std::size_t>(index);
  }
  static PipelinePlace place_of(const PipelineStep& step) {
    return {step.stage, step.virtual_stage};
  }
  End& at(std::vector<Ends>& ends, const PipelinePlace& place, int microbatch) const {
    return ends[index(place)][static_cast<std::size_t>(microbatch)];
  }
  End& at(std::vector<Ends>& ends, const PipelineStep& step) const {
    return at(ends, place_of(step), step.microbatch);
  }

  void run(const PipelineStep& step) {
    const Stage& stage = stages_[index(place_of(step))];
    if (computes(step.kind)) posted_.next_step(step.stage);
    switch (step.kind) {
      case Kind::forward:
        return forward(stage, step);
      case Kind::backward:
        if (!sends_beside_sums(step)) backward(stage, step, GradientOf::both);
        return;
      case Kind::input_gradient:
        return backward(stage, step, GradientOf::inputs);
      case Kind::weight_gradient:
        return backward(stage, step, GradientOf::weights);
      case Kind::send_forward:
        out_.begin_block(where(pipeline_, step) + "send_forward");
        return send_ahead(stage, step);
      case Kind::send_backward:
        if (sends_beside_sums(step)) {
          return backward(stage, {Kind::backward, step.stage, step.microbatch}, GradientOf::both);
        }
        out_.begin_block(where(pipeline_, step) + "send_backward");
        return send_back(stage, step);
    }
  }

  [[nodiscard]] bool is_last(const PipelineStep& step) const {
    return step.microbatch + 1 == pipeline_.microbatches;
  }

  // The last gradients that leave a stage share its NICs with the sums of its weights' gradients.
  // With several virtual stages it is not known whether what a stage does next overlaps the sums.
  [[nodiscard]] bool sends_beside_sums(const PipelineStep& step) const {
    return sums_beside_layers_ && is_last(step) && step.stage > 0 &&
           gradients_of(step.stage).are_summed();
  }
  [[nodiscard]] const Gradients& gradients_of(int stage) const {
    return gradients_[static_cast<std::size_t>(stage)];
  }
  Parameters& parameters_at(const PipelineStep& step) { return parameters_[index(place_of(step))]; }

  void send_ahead(const Stage& stage, const PipelineStep& step) {
    const PipelinePlace to = *place_behind(pipeline_, stage.at);
    at(inputs_, to, step.microbatch).forward = send({.name = "send_forward",
                                                     .pairs = stage.ahead,
                                                     .what = at(outputs_, step).forward,
                                                     .from = stage.at.stage,
                                                     .to = to.stage});
  }

  void send_back(const Stage& stage, const PipelineStep& step) {
    const PipelinePlace to = *place_before(pipeline_, stage.at);
    OpId& sent = gradients_sent_[static_cast<std::size_t>(step.stage)];
    sent = send({.name = "send_backward",
                 .pairs = stage.back,
                 .what = at(outputs_, step).backward,
                 .from = stage.at.stage,
                 .to = to.stage});
    at(inputs_, to, step.microbatch).backward = sent;
  }

  struct Send {
    const char* name;
    PlaceId pairs;
    OpId what;
    int from = 0;
    int to = 0;
  };

  [[nodiscard]] Bytes sent_size() const {
    return shapes_.size(shapes_.kept * shapes_.decoder.hidden);
  }

  // The receiver's kernel starts after what it computes: until then a PostedReceive waits. In turns
  // the sender's does, too: of two passes at once both are sent after both.
  OpId send(const Send& send) {
    std::vector<OpId> after{send.what};
    const auto add_last_of = [&](int stage) {
      const OpId last = computed_[static_cast<std::size_t>(stage)];
      if (!last.is_none() && last != send.what) after.push_back(last);
    };
    if (sends_in_turns(pipeline_)) add_last_of(send.from);
    add_last_of(send.to);
    CommunicationShape call = even_call(CollectiveOp::point_to_point, sent_size());
    call.meets = sends_in_turns(pipeline_);
    return out_.add({.name = send.name,
                     .part = "send",
                     .shape = std::move(call),
                     .place = send.pairs,
                     .stream = stream_of_send(pipeline_, send.from, send.to),
                     .after = std::move(after)});
  }

  // `received`: the send from another stage that brings the input; none: `own`, made on this stage.
  void continue_from(OpId received, OpId own) {
    out_.continue_from(received.is_none() ? own : received);
    out_.wait_for(received);
  }

  // Weights in fp8 are kept from the first microbatch on; shared ones are cast in each pass.
  [[nodiscard]] DecoderShapes shapes_of_forward(const PipelineStep& step) const {
    DecoderShapes shapes = shapes_;
    const bool gathered = spec_.parallel.shards(Sharding::parameters);
    if (!pipeline_.trains) return shapes;
    if (spec_.recompute == Recompute::layer) shapes.input_casts = CastWay::as_it_lies;
    const CastWay kept = step.microbatch == 0 ? CastWay::both : CastWay::none;
    shapes.weight_casts = gathered ? CastWay::as_it_lies : kept;
    return shapes;
  }

  void forward(const Stage& stage, const PipelineStep& step) {
    const DecoderShapes shapes = shapes_of_forward(step);
    TensorParallel gpus(out_, shapes, stage.tensor);
    out_.write_only(GradientOf::both);
    const auto before = place_before(pipeline_, stage.at);
    const bool here = before && before->stage == stage.at.stage;
    continue_from(at(inputs_, step).forward,
                  here ? at(outputs_, *before, step.microbatch).forward : OpId::none());
    Parameters& parameters = parameters_at(step);
    parameters.begin(Parameters::Pass::forward, before_pass_);
    out_.wait_for(gradients_of(step.stage).sum_of_microbatch());
    if (stage.first) {
      out_.begin_block(where(pipeline_, step) + "embedding");
      parameters.use_ends();
      token_embedding(gpus);
    }
    for (int i = 0; i < stage.layers.count; ++i) {
      const int layer = stage.layers.first + i;
      out_.begin_block(where(pipeline_, step) + fmt::format("forward of layer {}", layer), layer);
      parameters.use_next();
      out_.beside(posted_.beside(i, stage.layers.count));
      layer_at(gpus, stage, layer).forward();
    }
    out_.beside({});
    if (stage.last) {
      out_.begin_block(where(pipeline_, step) + "head");
      parameters.use_ends();  // if the part has no layer
      head(gpus);
      for (int i = 0; i < spec_.mtp_modules; ++i) {
        out_.begin_block(where(pipeline_, step) + fmt::format("module {} of further tokens", i));
        further_token(gpus, stage, i).forward();
      }
    }
    computed_[static_cast<std::size_t>(step.stage)] = out_.last();
    at(outputs_, step).forward = out_.last();
  }

  // After what a backward continues that received nothing: after the next part on the same stage
  // or, at the model's end, its own forward; gradients of weights continue after those of inputs.
  OpId own_input(const Stage& stage, const PipelineStep& step, GradientOf of) {
    if (of == GradientOf::weights) return at(outputs_, step).backward;
    const auto behind = place_behind(pipeline_, stage.at);
    return behind ? at(outputs_, *behind, step.microbatch).backward : at(outputs_, step).forward;
  }

  // The sizes of a microbatch's backward pass. Gradients that are summed for each microbatch are
  // not added to those of others before.
  [[nodiscard]] DecoderShapes shapes_of_backward(const PipelineStep& step) const {
    DecoderShapes shapes = shapes_;
    if (spec_.parallel.shards(Sharding::parameters)) shapes.weight_casts = CastWay::transposed;
    const bool each_is_summed = gradients_of(step.stage).each_is_summed();
    if (each_is_summed) shapes.gradients = shapes.decoder.dtype;
    shapes.adds = step.microbatch > 0 && !each_is_summed &&
                  !accumulates(shapes.gradients, shapes.decoder.dtype);
    return shapes;
  }

  // In the last microbatch, or in each, each block also sums the gradients of the block before, or
  // the sums follow in blocks of their own.
  void backward(const Stage& stage, const PipelineStep& step, GradientOf of) {
    Gradients& gradients = gradients_[static_cast<std::size_t>(step.stage)];
    gradients.begin_microbatch(step.microbatch);
    const bool ends = (is_last(step) || gradients.each_is_summed()) && of != GradientOf::inputs;
    const DecoderShapes shapes = shapes_of_backward(step);
    TensorParallel gpus(out_, shapes, stage.tensor, [&](std::int64_t weights) {
      if (ends) gradients.made(weights);
    });
    const char* name = of == GradientOf::weights ? "gradients of the weights" : "backward";
    out_.write_only(of);
    continue_from(of == GradientOf::weights ? OpId::none() : at(inputs_, step).backward,
                  own_input(stage, step, of));
    const auto begin = [&](const std::string& what, int layer = -1) {
      out_.begin_block(where(pipeline_, step) + name + " of " + what, layer);
      if (sums_beside_layers_) gradients.sum_up();
    };
    const auto ready = [&](const LayerWeights& weights) {
      if (ends) gradients.are_ready(weights);
    };
    parameters_at(step).begin(Parameters::Pass::backward, before_pass_);
    LayerWeights embedding{.common = embedding_weights(spec_.decoder, spec_.parallel.tensor)};
    if (stage.last) {
      for (int i = spec_.mtp_modules - 1; i >= 0; --i) {
        begin(fmt::format("module {} of further tokens", i));
        further_token(gpus, stage, i).backward(i + 1 == spec_.mtp_modules);
        ready(mtp_weights(spec_, i));
      }
      begin("the head");
      parameters_at(step).use_ends();
      head_backward(gpus);
      if (spec_.mtp_modules > 0) add_further_gradient(gpus);
      const LayerWeights own{.common = head_weights(spec_) + embedding_copy_weights(spec_)};
      if (spec_.parallel.shards(Sharding::parameters) && stage.first) {
        embedding += own;  // a unit of parameters
      } else {
        ready(own);
      }
    }
    for (int i = stage.layers.count - 1; i >= 0; --i) {
      const int layer = stage.layers.first + i;
      begin(fmt::format("layer {}", layer), layer);
      parameters_at(step).use_next();
      out_.beside(posted_.beside(stage.layers.count - 1 - i, stage.layers.count));
      layer_at(gpus, stage, layer).backward();
      ready(layer_weights(spec_, layer));
    }
    out_.beside({});
    if (stage.first && of != GradientOf::inputs) {
      begin("the embedding");
      token_embedding_backward(gpus);
      ready(embedding);
    }
    computed_[static_cast<std::size_t>(step.stage)] = out_.last();
    if (of != GradientOf::weights) at(outputs_, step).backward = out_.last();
    if (ends) end_gradients(stage, step);
  }

  // Called when all gradients of this part's weights are made.
  void end_gradients(const Stage& stage, const PipelineStep& step) {
    Gradients& gradients = gradients_[static_cast<std::size_t>(step.stage)];
    if (stage.first) embedding_made_ = out_.last();
    if (stage.last) head_made_ = out_.last();
    gradients.close();
    if (!sums_beside_layers_) return gradients.sum_up_apart();
    if (!gradients.wait()) return;
    out_.begin_block(fmt::format("stage {}: gradients of its first weights", step.stage));
    gradients.sum_up();
    if (sends_beside_sums(step)) send_back(stage, step);
  }

  [[nodiscard]] Layer layer_at(TensorParallel& gpus, const Stage& stage, int index) const {
    return {gpus, spec_, routed_, stage, index};
  }
  [[nodiscard]] FurtherToken further_token(TensorParallel& gpus, const Stage& stage,
                                           int module) const {
    return {gpus, layer_at(gpus, stage, spec_.decoder.layers + module)};
  }

  void update() {
    out_.write_only(GradientOf::both);
    const bool tied = has_own_vocabulary(spec_) && spec_.decoder.tied;
    if (tied || embedding_copy_weights(spec_) > 0) add_up_tied();
    for (int s = 0; s < pipeline_.stages; ++s) {
      LayerWeights weights;
      for (int i = 0; i < pipeline_.virtual_stages; ++i) {
        weights += part_weights(spec_, stages_[index({s, i})].part);
      }
      const auto stage = static_cast<std::size_t>(s);
      gradients_[stage].update(weights, gradients_sent_[stage]);
    }
  }

  // The embedding is shared with the head, or with modules that predict further tokens: both ends
  // of the model have gradients of it.
  void add_up_tied() {
    out_.begin_block("gradients of the tied embedding");
    const std::int64_t weights =
        vocabulary_of(spec_.decoder, spec_.parallel.tensor) * spec_.decoder.hidden;
    const OpId sum = out_.add(
        {.name = "tied_gradient_sum",
         .part = "all_reduce",
         .shape = even_call(CollectiveOp::all_reduce, bytes_of(weights, workload_.gradients)),
         .place = ends_of_pipeline(graph_, spec_.parallel),
         .stream = kDataParallel,
         .after = {embedding_made_, head_made_}});
    gradients_.front().wait_for(sum);
    gradients_.back().wait_for(sum);
  }

  ModelGraph graph_;
  const Workload& workload_;
  const TransformerSpec& spec_;
  DecoderShapes shapes_;
  RoutedTokens routed_;
  PipelineShape pipeline_;
  bool sums_beside_layers_;  // gradients are summed in blocks of layers; else in their own blocks
  BlockWriter out_{graph_, workload_.pairs};
  PostedReceives posted_;
  std::vector<Stage> stages_;           // each with its virtual stages
  std::vector<Parameters> parameters_;  // of each of these
  std::vector<Gradients> gradients_;    // by stage
  std::vector<Ends> inputs_;            // what each place receives; none at the ends
  std::vector<Ends> outputs_;           // what it computed last
  std::vector<OpId> computed_;          // the same, by stage only
  OpId before_pass_ = OpId::none();     // what its stage computed before the pass that is written
  std::vector<OpId> gradients_sent_;    // by stage: the last send to the previous stage
  OpId embedding_made_ = OpId::none();  // its gradients, by this operator
  OpId head_made_ = OpId::none();
};

}  // namespace

namespace builders {

// Of kinds transformer and moe.
ModelGraph transformer(const Scenario& scenario) { return Transformer(scenario).build(); }

}  // namespace builders

}  // namespace weft
