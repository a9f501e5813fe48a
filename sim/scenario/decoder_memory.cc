#include "sim/scenario/decoder_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/core/plural.h"
#include "sim/scenario/decoder_size.h"

namespace weft {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }
double size_in(DataType type) { return real(size_of(type).count()); }

class Decoder {
 public:
  explicit Decoder(const Workload& workload)
      : workload_(workload),
        spec_(workload.transformer),
        d_(spec_.decoder),
        p_(spec_.parallel),
        trains_(workload.phase == Phase::training),
        shape_(pipeline_of(spec_, trains_)),
        tokens_(real(spec_.microbatch) *
                (workload.phase == Phase::decode ? 1 : real(spec_.length) / p_.context)) {}

  [[nodiscard]] MemoryUse fullest() const {
    MemoryUse most;
    for (int stage = 0; stage < p_.pipeline; ++stage) {
      MemoryUse use = of_stage(stage);
      if (use.all() > most.all()) most = use;
    }
    return most;
  }

 private:
  [[nodiscard]] int copies(bool experts) const {
    return experts ? expert_copies_that_share(p_) : copies_that_share(p_);
  }

  // Of a weight; shards of parameters are the optimiser's copy where it has one.
  [[nodiscard]] double weight_kept(int copies) const {
    const bool shared = p_.shards(Sharding::parameters) && copies > 1;
    return shared && keeps_a_copy(workload_) ? 0 : size_in(d_.dtype);
  }

  [[nodiscard]] bool in_fp8() const { return spec_.fp8 != Fp8Scales::none; }

  // Of an element that only a product reads again: its transposed copy, where that is in fp8.
  [[nodiscard]] double operand() const { return in_fp8() ? 1 / size_in(d_.dtype) : 1; }

  // Of a part's layers; without training there is nothing but the cast weights.
  [[nodiscard]] double cast_weights(int part) const {
    const StageLayers layers = layers_of_part(spec_, part);
    if (!in_fp8() || p_.shards(Sharding::parameters)) return 0;
    const double more = trains_ ? 2 : 1 - size_in(d_.dtype);
    double sum = 0;
    for (int i = 0; i < layers.count; ++i) {
      sum += real(layer_weights(spec_, layers.first + i).all()) * more;
    }
    for (int i = 0; part + 1 == parts_of(shape_) && i < spec_.mtp_modules; ++i) {
      sum += real(mtp_weights(spec_, i).all()) * more;
    }
    return sum;
  }

  [[nodiscard]] double saved_by_packing(int part) const {
    if (spec_.weights == WeightType::model) return 0;
    constexpr double kPacked = 128;
    const double less = size_in(d_.dtype) - bytes_of_128(spec_.weights) / kPacked;
    const StageLayers layers = layers_of_part(spec_, part);
    double sum = 0;
    for (int i = 0; i < layers.count; ++i) {
      const LayerWeights weights = layer_weights(spec_, layers.first + i);
      const bool all = spec_.weights_of == PackedWeights::layers;
      sum += real(all ? weights.all() : weights.experts) * less;
    }
    return sum;
  }

  void hold(MemoryUse& use, std::int64_t weights, int copies) const {
    const auto each = [&](Sharding shared) { return p_.shards(shared) ? copies : 1; };
    use.weights += real(weights) * weight_kept(copies) / each(Sharding::parameters);
    if (!trains_) return;
    const int states = keeps_a_copy(workload_) ? 3 : 2;
    const int kept_by = p_.sums_each() ? copies : 1;
    use.gradients += real(weights) * size_in(workload_.gradients) / kept_by;
    use.optimizer +=
        real(weights) * states * size_in(workload_.optimizer) / each(Sharding::optimizer);
  }

  // Parameters that are whole at a time: the embedding and head, and the layer that computes and
  // those that are gathered ahead, or all. In a pipeline what a backward pass has gathered stays.
  [[nodiscard]] double gathered(std::int64_t weights) const {
    if (!p_.shards(Sharding::parameters)) return 0;
    if (p_.pipeline > 1 || !p_.reshard_after_forward) return real(weights) * size_in(d_.dtype);
    const int whole = std::min(d_.layers, p_.prefetch + 1);
    const double root = real(embedding_weights(d_, p_.tensor) + head_weights(spec_));
    return (root + (real(weights) - root) * whole / d_.layers) * size_in(d_.dtype);
  }

  [[nodiscard]] double cached(StageLayers layers) const {
    if (trains_) return 0;
    const double tokens = real(spec_.sequences / p_.data) *
                          real(cached_tokens(d_, layers, spec_.length)) / p_.context;
    return tokens * real(cached_elements(d_, p_.tensor)) * size_in(d_.dtype);
  }

  // Of one token between the parts of a layer.
  [[nodiscard]] double hidden() const { return real(d_.hidden) / (p_.sequence ? p_.tensor : 1); }

  // Before the activation, and its result.
  [[nodiscard]] double feed_forward(std::int64_t inner, const Recomputed& again) const {
    return ((d_.gated ? 2.0 : 1.0) + (again.activation ? 0 : operand())) * real(inner);
  }

  [[nodiscard]] double attention(const Recomputed& again) const {
    const HeadShare share = heads_of(d_, p_.tensor);
    const std::int64_t results = share.heads * d_.value_head_dim;
    const std::int64_t kv_heads = d_.latent ? share.heads : share.kv_heads;
    const std::int64_t of_keys = kv_heads * (d_.head_dim + d_.value_head_dim);
    double elements = real(results) * (in_fp8() ? 1 + operand() : 1);
    if (!again.mla_up_proj) elements += real(share.heads * d_.head_dim + of_keys);
    if (!again.core_attn) elements += real(share.heads) * 4 / size_in(d_.dtype);
    if (const auto& latent = d_.latent) {
      const int normed = again.mla_up_proj ? 0 : latent->queries + latent->keys;
      elements += normed * operand() + latent->queries + latent->keys + latent->position;
    }
    return elements;
  }

  [[nodiscard]] double mlp_of_layer(int layer, const Recomputed& again) const {
    if (!has_experts(spec_, layer)) {
      return again.mlp ? 0 : feed_forward(d_.inner, again) / p_.tensor;
    }
    if (again.moe) return 0;
    const MoeSpec& moe = *spec_.moe;
    const double of_an_expert =
        operand() * real(d_.hidden) * p_.expert_tensor + feed_forward(moe.inner, again);
    return (feed_forward(moe.shared_inner, again) + moe.top_k * of_an_expert) / p_.tensor;
  }

  // Router and dispatch take tokens in the model's type.
  [[nodiscard]] double behind_second_norm(int layer) const {
    if (!has_experts(spec_, layer) || !in_fp8()) return operand();
    return spec_.moe->shared_inner > 0 ? 1 + operand() : 1;
  }

  // What the backward pass of a layer needs from its forward pass, but for what it computes again.
  [[nodiscard]] double of_layer(int layer, const Recomputed& again) const {
    const double around_norms = 2 + (again.layernorm ? 0 : operand() + behind_second_norm(layer));
    const double elements = around_norms * hidden() + attention(again) + mlp_of_layer(layer, again);
    return elements * tokens_ * size_in(d_.dtype) + 2 * mask();
  }

  // A byte an element, of dropped embedded tokens or what half of a layer adds.
  [[nodiscard]] double mask() const { return d_.dropout ? hidden() * tokens_ : 0; }

  [[nodiscard]] double input_of_layer() const { return hidden() * tokens_ * size_in(d_.dtype); }

  [[nodiscard]] double kept_of_layer(int layer) const {
    const bool again = spec_.recompute == Recompute::layer;
    return again ? input_of_layer() : of_layer(layer, recomputed_of(spec_));
  }

  // Of a module that predicts a further token: embedded tokens, these and the model's vectors after
  // their norms, and a layer.
  [[nodiscard]] double of_module(int module) const {
    return 3 * input_of_layer() + kept_of_layer(d_.layers + module);
  }

  [[nodiscard]] double of_part(int part) const {
    const StageLayers layers = layers_of_part(spec_, part);
    double sum = part == 0 ? mask() : 0;
    for (int i = 0; i < layers.count; ++i) sum += kept_of_layer(layers.first + i);
    if (part + 1 < parts_of(shape_)) return sum;
    for (int i = 0; i < spec_.mtp_modules; ++i) sum += of_module(i);
    return sum;
  }

  [[nodiscard]] double of_head() const {
    const double logits = real(vocabulary_of(d_, p_.tensor)) * (size_in(d_.dtype) + 4);
    return tokens_ * (2 * hidden() * size_in(d_.dtype) + logits);
  }

  // Of the layer whose backward pass it is, the largest of all.
  [[nodiscard]] double computed_again() const {
    const auto of = [&](int layer) {
      const double all = of_layer(layer, {});
      return spec_.recompute == Recompute::layer ? all
                                                 : all - of_layer(layer, recomputed_of(spec_));
    };
    return spec_.recompute == Recompute::none ? 0 : std::max(of(0), of(d_.layers - 1));
  }

  // Nothing is kept for a backward pass: what goes past the layer and its norm's result, while the
  // larger of its halves computes; and the logits of a new token of each sequence.
  void hold_while_computing(MemoryUse& use, int stage) const {
    const StageLayers layers = layers_of_part(spec_, part_at(shape_, {stage, 0}));
    double most = 0;
    for (int layer : {layers.first, layers.first + layers.count - 1}) {
      most = std::max({most, attention({}), mlp_of_layer(layer, {})});
    }
    use.parts = 1;
    use.activations = (2 * hidden() + most) * tokens_ * size_in(d_.dtype);
    if (stage + 1 < p_.pipeline) return;
    use.logits = real(spec_.microbatch * vocabulary_of(d_, p_.tensor)) * size_in(d_.dtype);
  }

  // Follows the schedule of a stage to where it keeps most.
  void keep(MemoryUse& use, int stage) const {
    double kept = 0;
    double logits = 0;
    int parts = 0;
    for (const PipelineStep& step : steps_of(shape_, stage)) {
      const int part = part_at(shape_, {stage, step.virtual_stage});
      const double head = part + 1 == parts_of(shape_) ? (1 + spec_.mtp_modules) * of_head() : 0;
      if (step.kind == PipelineStep::Kind::forward) {
        kept += of_part(part);
        logits += head;
        parts += 1;
        if (kept + logits > use.activations + use.logits) {
          use.activations = kept;
          use.logits = logits;
          use.parts = parts;
        }
      } else if (step.kind != PipelineStep::Kind::input_gradient) {
        kept -= of_part(part);
        logits -= head;
        parts -= 1;
      }
    }
    use.activations += computed_again();
  }

  [[nodiscard]] MemoryUse of_stage(int stage) const {
    MemoryUse use{.stage = stage};
    for (int i = 0; i < p_.virtual_stages; ++i) {
      const int part = part_at(shape_, {stage, i});
      const LayerWeights weights = part_weights(spec_, part);
      hold(use, weights.common, copies(false));
      hold(use, weights.experts, copies(true));
      const std::int64_t experts = copies(true) > 1 ? weights.experts : 0;
      use.gathered += gathered(weights.common + experts);
      use.weights += cast_weights(part) - saved_by_packing(part);
      use.cached += cached(layers_of_part(spec_, part));
    }
    if (trains_) {
      keep(use, stage);
    } else {
      hold_while_computing(use, stage);
    }
    return use;
  }

  const Workload& workload_;
  const TransformerSpec& spec_;
  const DecoderSpec& d_;
  const ParallelSpec& p_;
  bool trains_;
  PipelineShape shape_;
  double tokens_;  // of a microbatch, on a GPU
};

}  // namespace

MemoryUse fullest_gpu(const Workload& workload) { return Decoder(workload).fullest(); }

std::string gigabytes_text(double size) {
  const double gb = size / 1e9;
  return gb < 100 ? fmt::format("{:.3g} GB", gb) : fmt::format("{:.0f} GB", gb);
}

std::string to_text(const MemoryUse& use) {
  std::vector<std::pair<double, std::string>> terms{
      {use.weights, "weights"},
      {use.gradients, "gradients"},
      {use.optimizer, "optimiser"},
      {use.gathered, "gathered parameters"},
      {use.cached, "keys and values of all tokens"},
      {use.activations, fmt::format("activations of {} {}", use.parts,
                                    plural(use.parts, "microbatch's part", "microbatches' parts"))},
      {use.logits, "logits"}};
  std::stable_sort(terms.begin(), terms.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [size, name] : terms) {
    constexpr double kWorthSaying = 1e-3;
    if (size == 0 || size < kWorthSaying * use.all()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, gigabytes_text(size));
  }
  return text;
}

}  // namespace weft
