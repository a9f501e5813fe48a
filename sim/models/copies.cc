#include "sim/models/copies.h"

#include "sim/models/streams.h"

namespace weft {

Copies copies_of_common(const Stage& stage, const ParallelSpec& parallel) {
  const int sharing = copies_that_share(parallel);
  return {.place = stage.sharing,
          .count = sharing,
          .across = stage.across,
          .groups = copies_of_weights(parallel) / sharing};
}

Copies copies_of_experts(const Stage& stage, const ParallelSpec& parallel) {
  const int sharing = expert_copies_that_share(parallel);
  return {.place = stage.expert_data,
          .count = sharing,
          .across = stage.expert_across,
          .groups = copies_of_expert_weights(parallel) / sharing};
}

std::vector<SharedPart> shared_parts(const LayerWeights& weights, const Stage& stage,
                                     const ParallelSpec& parallel) {
  std::vector<SharedPart> parts;
  const auto add = [&](const char* names, std::int64_t own, const Copies& copies) {
    if (own == 0 || copies.count == 1) return;
    parts.push_back({.names = names, .weights = own, .copies = copies});
  };
  add("", weights.common, copies_of_common(stage, parallel));
  add("expert_", weights.experts, copies_of_experts(stage, parallel));
  return parts;
}

std::int64_t shared_weights(const LayerWeights& weights, const Stage& stage,
                            const ParallelSpec& parallel) {
  std::int64_t sum = 0;
  for (const SharedPart& part : shared_parts(weights, stage, parallel)) sum += part.weights;
  return sum;
}

std::int64_t summed_weights(const LayerWeights& weights, const Stage& stage,
                            const ParallelSpec& parallel) {
  const auto summed = [](std::int64_t own, const Copies& copies) {
    return copies.all() == 1 ? 0 : own;
  };
  return summed(weights.common, copies_of_common(stage, parallel)) +
         summed(weights.experts, copies_of_experts(stage, parallel));
}

ModelOp gather_of(const SharedPart& part, const Workload& workload, std::uint32_t stream, OpId by) {
  return {.name = part.names + "parameter_gather",
          .part = "all_gather",
          .shape = even_call(CollectiveOp::all_gather,
                             bytes_of(part.weights, workload.transformer.decoder.dtype)),
          .place = part.copies.place,
          .stream = stream,
          .after = {by}};
}

}  // namespace weft
