// A recommendation model: embedding tables spread over the GPUs, the MLPs on each of them.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sim/models/model_graph.h"
#include "sim/models/step_work.h"
#include "sim/models/streams.h"
#include "sim/scenario/model_size.h"

namespace weft {
namespace {

Groups one_group_of(int gpus) {
  Groups all;
  all.groups.resize(1);
  for (int gpu = 0; gpu < gpus; ++gpu) all.groups[0].push_back(static_cast<std::uint32_t>(gpu));
  return all;
}

// A WG makes rows_per_wg rows, whose numbers of lookups vary independently: their relative spread
// is that of one row divided by the square root of the number of rows.
EmbeddingWork with_spread(EmbeddingWork work, double spread) {
  const double of_a_wg = spread * spread / work.rows_per_wg;
  work.jitter = std::min(0.9, std::sqrt(work.jitter * work.jitter + of_a_wg));
  return work;
}

class Dlrm {
 public:
  Dlrm(const Workload& workload, int gpus)
      : dlrm_(workload.dlrm),
        tables_(with_spread(workload.embedding, workload.dlrm.pooling_spread)),
        gradients_(workload.gradients),
        full_bucket_(workload.gradient_bucket),
        samples_(tables_.batch / gpus),
        vectors_(std::int64_t{tables_.tables_per_gpu} * gpus),
        alone_(gpus == 1),
        bottom_(bottom_layers(dlrm_)),
        top_(top_layers(dlrm_, vectors_, tables_.dim)) {
    all_ = graph_.add_place(one_group_of(gpus));
  }

  ModelGraph build(Phase phase) {
    forward();
    if (phase == Phase::training) backward();
    return std::move(graph_);
  }

 private:
  struct Op {
    const char* name;
    const char* part;
    std::uint32_t stream = kComputes;
    std::vector<OpId> after;
  };

  OpId add(Op op, OpShape shape) {
    return graph_.add({.name = op.name,
                       .part = op.part,
                       .shape = std::move(shape),
                       .place = all_,
                       .stream = op.stream,
                       .after = std::move(op.after)});
  }

  // The lookups go first: their exchange runs concurrently with the bottom MLP.
  void forward() {
    const OpId lookup = add({.name = "embedding", .part = "embedding", .after = {}},
                            EmbeddingShape{.work = tables_});
    const OpId exchange = exchange_rows("embedding_all_to_all", lookup);
    run(bottom_, "bottom_mlp", "bottom_mlp_activation");
    add({.name = "interaction", .part = "interaction", .after = {exchange}}, interaction());
    run(top_, "top_mlp", "top_mlp_activation");
  }

  // The bottom MLP's gradients are computed while those of the rows travel.
  void backward() {
    add({.name = "loss", .part = "loss", .after = {}},
        stream_of({.elements = samples_, .read = 2, .written = 1, .operations = 8},
                  dlrm_.mlp_dtype));
    run_back(top_, "top_mlp", InputGradient::needed);
    const OpId interacted =
        add({.name = "interaction_backward", .part = "interaction", .after = {}},
            interaction_backward());
    const OpId exchange = exchange_rows("gradient_all_to_all", interacted);
    run_back(bottom_, "bottom_mlp", InputGradient::unused);
    sum_up();
    add({.name = "embedding_backward", .part = "embedding", .after = {exchange}},
        EmbeddingShape{.work = tables_, .backward = true});
    add({.name = "mlp_optimizer", .part = "optimizer", .after = {summed_}}, optimizer());
  }

  // Sends the pooled rows of each GPU's tables to the samples' GPUs. A single GPU has them already.
  OpId exchange_rows(const char* name, OpId after) {
    if (alone_) return after;
    const std::int64_t rows = tables_.batch * tables_.tables_per_gpu;
    return add({.name = name, .part = "all_to_all", .stream = kCritical, .after = {after}},
               even_call(CollectiveOp::all_to_all, bytes_of(rows * tables_.dim, tables_.dtype)));
  }

  void run(const std::vector<MlpLayer>& layers, const char* name, const char* activation) {
    for (const MlpLayer& layer : layers) {
      add({.name = name, .part = "mlp", .after = {}}, product(samples_, layer.out, layer.in));
      add({.name = activation, .part = "mlp", .after = {}},
          stream_of({.elements = samples_ * layer.out, .read = 1, .written = 1, .operations = 1},
                    dlrm_.mlp_dtype));
    }
  }

  // Whether the gradient of an MLP's input is needed.
  enum class InputGradient { needed, unused };

  void run_back(const std::vector<MlpLayer>& layers, const std::string& name, InputGradient input) {
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
      const bool first = layer + 1 == layers.rend();
      add_back(
          name + "_activation_backward", "mlp",
          stream_of({.elements = samples_ * layer->out, .read = 2, .written = 1, .operations = 1},
                    dlrm_.mlp_dtype));
      if (!first || input == InputGradient::needed) {
        add_back(name + "_input_gradient", "mlp",
                 product(samples_, layer->in, layer->out, GemmLayout::nn));
      }
      bucket_by_ = add_back(name + "_weight_gradient", "mlp",
                            product(layer->out, layer->in, samples_, GemmLayout::tn));
      bucket_ += bytes_of(layer->in * layer->out, gradients_);
      if (bucket_ >= full_bucket_) sum_up();
    }
  }

  // All-reduces the gradients collected so far, if there are any.
  void sum_up() {
    if (bucket_ == Bytes{}) return;
    if (alone_) {
      summed_ = bucket_by_;
      bucket_ = {};
      return;
    }
    summed_ = add({.name = "mlp_all_reduce",
                   .part = "all_reduce",
                   .stream = kDataParallel,
                   .after = {bucket_by_}},
                  even_call(CollectiveOp::all_reduce, bucket_));
    bucket_ = {};
  }

  OpId add_back(const std::string& name, const char* part, OpShape shape) {
    return graph_.add({.name = name,
                       .part = part,
                       .shape = std::move(shape),
                       .place = all_,
                       .stream = kComputes,
                       .after = {}});
  }

  [[nodiscard]] GemmShape product(std::int64_t m, std::int64_t n, std::int64_t k,
                                  GemmLayout layout = GemmLayout::linear) const {
    return {.m = m, .n = n, .k = k, .dtype = dlrm_.mlp_dtype, .layout = layout};
  }

  // The vectors that interact, for all samples of a GPU: pooled rows and the bottom MLP's output.
  [[nodiscard]] Bytes vectors_size() const {
    return bytes_of(samples_ * vectors_ * tables_.dim, tables_.dtype) +
           bytes_of(samples_ * dlrm_.bottom_mlp.back(), dlrm_.mlp_dtype);
  }
  [[nodiscard]] Bytes interaction_bytes() const {
    return bytes_of(samples_ * interaction_size(dlrm_, vectors_, tables_.dim), dlrm_.mlp_dtype);
  }
  [[nodiscard]] Flops interaction_flops() const {
    const Flops of_a_pair = flops(2) * samples_ * tables_.dim;
    switch (dlrm_.interaction) {
      case Interaction::dot:
        return of_a_pair * (vectors_ * (vectors_ + 1) / 2);
      case Interaction::concat:
        return {};
      case Interaction::sum:
        return flops(samples_) * (vectors_ * tables_.dim);
    }
    return {};
  }
  [[nodiscard]] StreamShape interaction() const {
    return {.read = vectors_size(), .written = interaction_bytes(), .flops = interaction_flops()};
  }
  // A product passes its gradient on to both factors, which are read again.
  [[nodiscard]] StreamShape interaction_backward() const {
    const bool products = dlrm_.interaction == Interaction::dot;
    return {.read = interaction_bytes() + vectors_size() * (products ? 1 : 0),
            .written = vectors_size(),
            .flops = products ? interaction_flops() * 2 : Flops{}};
  }

  // w -= rate x gradient.
  [[nodiscard]] StreamShape optimizer() const {
    std::int64_t weights = 0;
    for (const MlpLayer& layer : bottom_) weights += layer.in * layer.out;
    for (const MlpLayer& layer : top_) weights += layer.in * layer.out;
    const Bytes size = bytes_of(weights, dlrm_.mlp_dtype);
    return {
        .read = size + bytes_of(weights, gradients_), .written = size, .flops = flops(2) * weights};
  }

  ModelGraph graph_;
  const DlrmSpec& dlrm_;
  EmbeddingWork tables_;
  DataType gradients_;
  Bytes full_bucket_;
  std::int64_t samples_;  // per GPU
  std::int64_t vectors_;  // pooled rows per sample, from all tables
  bool alone_;            // on one GPU
  std::vector<MlpLayer> bottom_;
  std::vector<MlpLayer> top_;
  PlaceId all_;
  Bytes bucket_;    // gradients that are not summed yet
  OpId bucket_by_;  // the last operator that made some
  OpId summed_;     // the last sum
};

}  // namespace

namespace builders {

ModelGraph dlrm(const Scenario& scenario) {
  const Workload& workload = scenario.workload;
  return Dlrm(workload, scenario.cluster.gpus()).build(workload.phase);
}

// The products of both MLPs, of which none is computed again; the interaction, a stream, is none.
StepWork dlrm_work(const Scenario& scenario, const ModelGraph& graph) {
  const double products = product_flops(graph);
  return {.model_flops = products,
          .full_attention_flops = {},
          .hardware_flops = products,
          .tokens = {},
          .samples = scenario.workload.embedding.batch};
}

}  // namespace builders

}  // namespace weft
