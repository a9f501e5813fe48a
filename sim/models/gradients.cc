#include "sim/models/gradients.h"

#include <fmt/format.h>

#include <utility>

#include "sim/collectives/collective.h"
#include "sim/core/assert.h"
#include "sim/core/round_up.h"

namespace weft {
namespace {

// Adam: reads weights, both moments and the gradient, writes the first three (12 operations per
// element). Where states are wider than the weights, they include a copy of the weights, from which
// the weights themselves are written.
StreamShape adam(std::int64_t weights, const Workload& workload) {
  const Bytes state = bytes_of(weights, workload.optimizer) * 3;
  const DataType type = workload.transformer.decoder.dtype;
  const Bytes rounded = keeps_a_copy(workload) ? bytes_of(weights, type) : Bytes{};
  return {.read = state + bytes_of(weights, workload.gradients),
          .written = state + rounded,
          .flops = flops(12) * weights,
          .chunks = round_up(weights, kChunk)};
}

}  // namespace

Gradients::Copies Gradients::of_common() const {
  return {.place = stage_.data, .count = copies_of_weights(workload_.transformer.parallel)};
}

Gradients::Copies Gradients::of_experts() const {
  const ParallelSpec& parallel = workload_.transformer.parallel;
  return {.place = stage_.expert_data, .count = gpus_of_stage(parallel) / parallel.expert};
}

void Gradients::close(LayerWeights& bucket) {
  if (bucket.all() == 0) return;
  const LayerWeights weights = std::exchange(bucket, {});
  buckets_.push_back(weights);
  const bool alone = (weights.common == 0 || of_common().count == 1) &&
                     (weights.experts == 0 || of_experts().count == 1);
  if (!alone) ready_.push_back({.weights = weights, .by = out_.last()});
}

void Gradients::close() {
  close(common_bucket_);
  close(experts_bucket_);
}

// A kernel that divides them by the number of copies.
void Gradients::scale(const LayerWeights& weights) {
  if (!workload_.scales_gradients) return;
  const std::int64_t summed =
      (of_common().count > 1 ? weights.common : 0) + (of_experts().count > 1 ? weights.experts : 0);
  if (summed == 0) return;
  const Bytes size = bytes_of(summed, workload_.gradients);
  out_.compute("gradient_scale", "gradients",
               StreamShape{.read = size, .written = size, .flops = flops(summed)}, stage_.tensor,
               GradientOf::weights);
}

void Gradients::made(std::int64_t weights) {
  const Bytes full = workload_.gradient_bucket;
  if (full == Bytes{}) return;
  scale({.common = weights});
  of_layer_ += weights;
  common_bucket_.common += weights;
  if (bytes_of(common_bucket_.common, workload_.gradients) >= full) close(common_bucket_);
}

void Gradients::are_ready(const LayerWeights& layer) {
  const Bytes full = workload_.gradient_bucket;
  if (full == Bytes{}) {
    scale(layer);
    common_bucket_ = layer;
    return close(common_bucket_);
  }
  SIM_ASSERT(of_layer_ <= layer.common);
  made(layer.common - of_layer_);
  of_layer_ = 0;
  scale({.experts = layer.experts});
  experts_bucket_.experts += layer.experts;
  if (bytes_of(experts_bucket_.experts, workload_.gradients) >= full) close(experts_bucket_);
}

void Gradients::sum(const std::string& name, std::int64_t weights, const Copies& copies, OpId by) {
  if (weights == 0 || copies.count == 1) return;
  const bool sharded = workload_.transformer.parallel.sharded_optimizer;
  const CollectiveOp op = sharded ? CollectiveOp::reduce_scatter : CollectiveOp::all_reduce;
  last_sum_ = out_.add({.name = name,
                        .part = name_of(op),
                        .shape = even_call(op, bytes_of(weights, workload_.gradients)),
                        .place = copies.place,
                        .stream = kDataParallel,
                        .after = {by}});
}

void Gradients::sum_up() {
  for (const Ready& ready : std::exchange(ready_, {})) {
    sum("gradient_sum", ready.weights.common, of_common(), ready.by);
    sum("expert_gradient_sum", ready.weights.experts, of_experts(), ready.by);
  }
}

void Gradients::sum_up_apart() {
  for (const Ready& ready : std::exchange(ready_, {})) {
    const auto apart = [&](const char* name, std::int64_t weights, const Copies& copies) {
      if (weights == 0 || copies.count == 1) return;
      out_.begin_block(fmt::format("stage {}: gradients", stage_.at.stage));
      sum(name, weights, copies, ready.by);
    };
    apart("gradient_sum", ready.weights.common, of_common());
    apart("expert_gradient_sum", ready.weights.experts, of_experts());
  }
}

void Gradients::spread(const std::string& name, std::int64_t weights, const Copies& copies,
                       OpId by) {
  if (weights == 0 || copies.count == 1) return;
  const Bytes size = bytes_of(weights, workload_.transformer.decoder.dtype);
  out_.add({.name = name,
            .part = "all_gather",
            .shape = even_call(CollectiveOp::all_gather, size),
            .place = copies.place,
            .stream = kDataParallel,
            .after = {by}});
}

void Gradients::update(const LayerWeights& weights, OpId sent) {
  const bool sharded = workload_.transformer.parallel.sharded_optimizer;
  const auto part = [&](std::int64_t all, const Copies& copies) {
    return sharded ? round_up(all, copies.count) : all;
  };
  out_.begin_block(fmt::format("stage {}: optimiser", stage_.at.stage));
  out_.continue_from(OpId::none());
  out_.wait_for(last_sum_);
  out_.wait_for(sent);
  const std::int64_t updated =
      part(weights.common, of_common()) + part(weights.experts, of_experts());
  const OpId optimizer =
      out_.compute("optimizer", "optimizer", adam(updated, workload_), stage_.tensor);
  if (!sharded) return;
  // In reverse order of summing: parameters of the first layers are needed first.
  LayerWeights spread_out;
  for (auto layer = buckets_.rbegin(); layer != buckets_.rend(); ++layer) {
    out_.begin_block(fmt::format("stage {}: parameters", stage_.at.stage));
    spread("parameter_gather", layer->common, of_common(), optimizer);
    spread("expert_parameter_gather", layer->experts, of_experts(), optimizer);
    spread_out.common += layer->common;
    spread_out.experts += layer->experts;
  }
  SIM_ASSERT(spread_out.common == weights.common);
  SIM_ASSERT(spread_out.experts == weights.experts);
}

}  // namespace weft
