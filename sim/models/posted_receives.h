// Receives of a pipeline's stages that wait on CUs beside what the stages compute
// (steps_beside_receives of pipeline.h).
#pragma once

#include <optional>
#include <vector>

#include "sim/models/model_graph.h"

namespace weft {

class PostedReceives {
 public:
  // `size`: of what stages send.
  PostedReceives(const PipelineShape& pipeline, const ParallelSpec& parallel, int gpus_per_node,
                 Bytes size);

  // The stage's next step begins, in the order of its steps.
  void next_step(int stage);
  // What waits beside the `index`th of the step's `count` layers, in the order of the pass: whole
  // layers as far as it waits.
  [[nodiscard]] std::optional<PostedReceive> beside(int index, int count) const;

 private:
  [[nodiscard]] int node_of(int stage) const { return stage * gpus_of_stage_ / gpus_per_node_; }

  int gpus_of_stage_;
  int gpus_per_node_;
  Bytes size_;
  std::vector<std::vector<BesideReceive>> beside_;
  std::vector<std::size_t> next_;  // step, by stage
  BesideReceive now_;
  bool between_nodes_ = false;
};

}  // namespace weft
