#include "sim/models/posted_receives.h"

namespace weft {

PostedReceives::PostedReceives(const PipelineShape& pipeline, const ParallelSpec& parallel,
                               int gpus_per_node, Bytes size)
    : gpus_of_stage_(gpus_of_stage(parallel)),
      gpus_per_node_(gpus_per_node),
      size_(size),
      beside_(steps_beside_receives(pipeline)),
      next_(beside_.size()) {}

void PostedReceives::next_step(int stage) {
  const auto s = static_cast<std::size_t>(stage);
  now_ = beside_[s][next_[s]++];
  between_nodes_ = node_of(now_.from_stage) != node_of(stage);
}

std::optional<PostedReceive> PostedReceives::beside(int index, int count) const {
  if ((index + 1) * now_.of > count * now_.waits) return std::nullopt;
  return PostedReceive{.size = size_, .between_nodes = between_nodes_};
}

}  // namespace weft
