// What data parallelism does at the end of a step, of one stage: sums of gradients beside the way
// back, then the optimiser, then, where each GPU updates a part, the parameters back to all.
#pragma once

#include <string>
#include <vector>

#include "sim/models/block_writer.h"
#include "sim/models/stage.h"
#include "sim/scenario/scenario.h"

namespace weft {

class Gradients {
 public:
  Gradients(BlockWriter& out, const Workload& workload, const Stage& stage)
      : out_(out), workload_(workload), stage_(stage) {}

  // Whether other GPUs have the same weights.
  [[nodiscard]] bool are_summed() const { return of_common().count > 1; }

  // A layer's weights have their gradients, by the last operator that was computed.
  void are_ready(const LayerWeights& weights);

  [[nodiscard]] bool wait() const { return !ready_.empty(); }
  // Adds up, in the current block, what is ready.
  void sum_up();

  // This stage's optimiser waits for this sum of another kind too.
  void wait_for(OpId sum) { last_sum_ = sum; }

  // Of all weights of a stage, in a block of its own, when its last gradients have left for the
  // stage before (none: nothing leaves): a framework waits for that send.
  void update(const LayerWeights& weights, OpId sent);

 private:
  struct Ready {
    LayerWeights weights;
    OpId by;
  };
  // Of some weights: where their copies are, and how many.
  struct Copies {
    PlaceId place;
    int count = 1;
  };
  [[nodiscard]] Copies of_common() const;
  [[nodiscard]] Copies of_experts() const;
  void sum(const std::string& name, std::int64_t weights, const Copies& copies, OpId by);
  void spread(const std::string& name, std::int64_t weights, const Copies& copies, OpId by);

  BlockWriter& out_;
  const Workload& workload_;
  Stage stage_;
  std::vector<Ready> ready_;
  std::vector<LayerWeights> layers_;  // whose gradients are ready, the last first
  OpId last_sum_ = OpId::none();      // of its stream, so behind all others
};

}  // namespace weft
