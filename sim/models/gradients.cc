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
// the weights themselves are written, or, if parameters are sharded, gathered.
// `written`: those of them that are written.
StreamShape adam(std::int64_t weights, std::int64_t written, const Workload& workload) {
  const Bytes state = bytes_of(weights, workload.optimizer) * 3;
  const Bytes rounded =
      bytes_of(keeps_a_copy(workload) ? written : 0, workload.transformer.decoder.dtype);
  return {.read = state + bytes_of(weights, workload.gradients),
          .written = state + rounded,
          .flops = flops(12) * weights,
          .chunks = round_up(weights, kChunk)};
}

}  // namespace

void Gradients::begin_microbatch(int microbatch) {
  microbatch_ = microbatch;
  if (each_is_summed()) buckets_.clear();
}

// Of gradients as products write them: what is scattered is made from them by a copy.
DataType Gradients::made_type() const {
  return each_is_summed() ? workload_.transformer.decoder.dtype : workload_.gradients;
}

void Gradients::close(LayerWeights& bucket) {
  if (bucket.all() == 0) return;
  const LayerWeights weights = std::exchange(bucket, {});
  buckets_.push_back(weights);
  if (parallel().shards(Sharding::gradients)) copy_in(weights);
  if (summed(weights) == 0) return;
  ready_.push_back({.weights = weights, .by = out_.last()});
}

// A kernel that copies them one behind another, each GPU's part of all tensors together, and makes
// them as wide as they are summed. Their buffer is free when the sum before has ended. Those that
// no other GPU has are added to those of earlier microbatches at once, or already were.
void Gradients::copy_in(const LayerWeights& weights) {
  const std::int64_t of_all = summed(weights);
  const std::int64_t copied = each_is_summed() ? weights.all() : of_all;
  if (copied == 0) return;
  const std::int64_t added = each_is_summed() && microbatch_ > 0 ? weights.all() - of_all : 0;
  out_.wait_for(buffer_in_use_by_);
  out_.compute(
      "gradient_copy_in", "gradients",
      StreamShape{.read = bytes_of(copied, made_type()) + bytes_of(added, workload_.gradients),
                  .written = bytes_of(copied, workload_.gradients),
                  .flops = {}},
      stage_.tensor, GradientOf::weights);
}

void Gradients::close() {
  close(common_bucket_);
  close(experts_bucket_);
}

// A kernel that divides them by the number of copies.
void Gradients::scale(const LayerWeights& weights) {
  if (!workload_.scales_gradients) return;
  const std::int64_t of_all = summed(weights);
  if (of_all == 0) return;
  const Bytes size = bytes_of(of_all, made_type());
  out_.compute("gradient_scale", "gradients",
               StreamShape{.read = size, .written = size, .flops = flops(of_all)}, stage_.tensor,
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
  if (weights == 0 || copies.all() == 1) return;
  const bool sharded = parallel().shards(Sharding::optimizer);
  const CollectiveOp op = sharded ? CollectiveOp::reduce_scatter : CollectiveOp::all_reduce;
  last_sum_ = by;
  if (copies.count > 1) {
    last_sum_ = out_.add({.name = name,
                          .part = name_of(op),
                          .shape = even_call(op, bytes_of(weights, workload_.gradients)),
                          .place = copies.place,
                          .stream = kDataParallel,
                          .after = {by}});
    buffer_in_use_by_ = last_sum_;
  }
  if (copies.groups > 1) sum_across(name, weights, copies);
  if (copies.count == 1) buffer_in_use_by_ = last_sum_;
  if (each_is_summed() && microbatch_ > 0) add_part(name, weights, copies);
}

// Of each GPU's part over the groups, on a stream of its own (PyTorch's all_reduce_stream): the
// next layer's gradients are scattered meanwhile.
void Gradients::sum_across(const std::string& name, std::int64_t weights, const Copies& copies) {
  const std::int64_t part = round_up(weights, copies.count);
  last_sum_ =
      out_.add({.name = name + "_across",
                .part = name_of(CollectiveOp::all_reduce),
                .shape = even_call(CollectiveOp::all_reduce, bytes_of(part, workload_.gradients)),
                .place = copies.across,
                .stream = kAcrossGroups,
                .after = {last_sum_}});
}

// Adds a GPU's part of a sum to that of earlier microbatches.
void Gradients::add_part(const std::string& name, std::int64_t weights, const Copies& copies) {
  const std::int64_t part = round_up(weights, copies.count);
  last_sum_ =
      out_.add({.name = name + "_add",
                .part = "gradients",
                .shape = stream_of({.elements = part, .read = 2, .written = 1, .operations = 1},
                                   workload_.gradients),
                .place = stage_.tensor,
                .stream = kDataParallel,
                .after = {last_sum_}});
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
      if (weights == 0 || copies.all() == 1) return;
      out_.begin_block(fmt::format("stage {}: gradients", stage_.at.stage));
      sum(name, weights, copies, ready.by);
    };
    apart("gradient_sum", ready.weights.common, of_common());
    apart("expert_gradient_sum", ready.weights.experts, of_experts());
  }
  // A later layer whose copy waited for these would begin only after them, as blocks do.
  buffer_in_use_by_ = OpId::none();
}

void Gradients::spread(const LayerWeights& weights, OpId by) {
  for (const SharedPart& part : shared_parts(weights, stage_, parallel())) {
    out_.add(gather_of(part, workload_, kDataParallel, by));
  }
}

void Gradients::update(const LayerWeights& weights, OpId sent) {
  const bool sharded = parallel().shards(Sharding::optimizer);
  const auto part = [&](std::int64_t all, const Copies& copies) {
    return sharded ? round_up(all, copies.count) : all;
  };
  out_.begin_block(fmt::format("stage {}: optimiser", stage_.at.stage));
  out_.continue_from(OpId::none());
  out_.wait_for(last_sum_);
  out_.wait_for(sent);
  const std::int64_t updated =
      part(weights.common, of_common()) + part(weights.experts, of_experts());
  const bool gathered = parallel().shards(Sharding::parameters);
  const std::int64_t written =
      gathered ? weights.all() - shared_weights(weights, stage_, parallel()) : updated;
  const OpId optimizer =
      out_.compute("optimizer", "optimizer", adam(updated, written, workload_), stage_.tensor);
  if (!sharded || gathered) return;
  // In reverse order of summing: parameters of the first layers are needed first.
  LayerWeights spread_out;
  for (auto layer = buckets_.rbegin(); layer != buckets_.rend(); ++layer) {
    out_.begin_block(fmt::format("stage {}: parameters", stage_.at.stage));
    spread(*layer, optimizer);
    spread_out.common += layer->common;
    spread_out.experts += layer->experts;
  }
  SIM_ASSERT(spread_out.common == weights.common);
  SIM_ASSERT(spread_out.experts == weights.experts);
}

}  // namespace weft
