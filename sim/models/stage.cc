#include "sim/models/stage.h"

#include <fmt/format.h>

#include <utility>

namespace weft {
namespace {

std::uint32_t gpu(int number) { return static_cast<std::uint32_t>(number); }

// Groups of `size` GPUs, `stride` apart, that make up the `gpus` GPUs from `base` on.
struct Regular {
  int base = 0;
  int gpus = 0;
  int size = 1;
  int stride = 1;
};
Groups groups_of(const Regular& form) {
  Groups all;
  for (int first = 0; first < form.gpus; ++first) {
    if (first / form.stride % form.size != 0) continue;
    std::vector<std::uint32_t> group;
    group.reserve(static_cast<std::size_t>(form.size));
    for (int rank = 0; rank < form.size; ++rank) {
      group.push_back(gpu(form.base + first + rank * form.stride));
    }
    all.groups.push_back(std::move(group));
  }
  return all;
}

// Each GPU of one stage, paired with its counterpart in another stage.
struct Ends {
  int from = 0;
  int to = 0;
};
Groups pairs_of(const Ends& ends, int gpus) {
  Groups all;
  for (int i = 0; i < gpus; ++i) {
    all.groups.push_back({gpu(ends.from * gpus + i), gpu(ends.to * gpus + i)});
  }
  return all;
}

}  // namespace

Stage stage_of(ModelGraph& graph, const TransformerSpec& spec, const PipelineShape& pipeline,
               const PipelinePlace& at) {
  const ParallelSpec& parallel = spec.parallel;
  const int index = at.stage;
  const int part = part_at(pipeline, at);
  const int gpus = gpus_of_stage(parallel);
  const auto with_experts = static_cast<int>(gpus_with_experts(parallel));
  const auto place = [&](int size, int stride) {
    return graph.add_place(
        groups_of({.base = index * gpus, .gpus = gpus, .size = size, .stride = stride}));
  };
  Stage stage{.at = at,
              .part = part,
              .first = part == 0,
              .last = part + 1 == parts_of(pipeline),
              .layers = layers_of_part(spec, part),
              .tensor = place(parallel.tensor, 1),
              .context = place(parallel.context, parallel.tensor),
              .experts = place(parallel.expert, parallel.expert_tensor),
              .of_expert = place(parallel.expert_tensor, 1),
              .sharing = place(copies_that_share(parallel), parallel.tensor),
              .across = PlaceId::none(),
              .expert_data = place(expert_copies_that_share(parallel), with_experts),
              .expert_across = PlaceId::none(),
              .ahead = PlaceId::none(),
              .back = PlaceId::none()};
  const int sharing = copies_that_share(parallel);
  const int all = copies_of_weights(parallel);
  if (sharing < all) {
    stage.across = place(all / sharing, sharing * parallel.tensor);
    const int experts = expert_copies_that_share(parallel);
    stage.expert_across =
        place(copies_of_expert_weights(parallel) / experts, experts * with_experts);
  }
  const auto with = [&](const std::optional<PipelinePlace>& other) {
    if (!other || other->stage == index) return PlaceId::none();
    return graph.add_place(pairs_of({.from = index, .to = other->stage}, gpus));
  };
  stage.ahead = with(place_behind(pipeline, at));
  stage.back = with(place_before(pipeline, at));
  return stage;
}

std::string where(const PipelineShape& pipeline, const PipelineStep& step) {
  const std::string part =
      pipeline.virtual_stages == 1 ? "" : fmt::format(", virtual stage {}", step.virtual_stage);
  return fmt::format("stage {}{}, microbatch {}: ", step.stage, part, step.microbatch);
}

PlaceId ends_of_pipeline(ModelGraph& graph, const ParallelSpec& parallel) {
  return graph.add_place(
      pairs_of({.from = 0, .to = parallel.pipeline - 1}, gpus_of_stage(parallel)));
}

}  // namespace weft
