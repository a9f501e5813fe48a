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

  // Of a layer that has them now: so many of its weights that all copies of the model share. With
  // buckets, those that are full can be added up from here on.
  void made(std::int64_t weights);
  // A layer, of which these are all weights, has all its gradients, by the last operator that was
  // computed.
  void are_ready(const LayerWeights& layer);
  // No more will come to the last bucket.
  void close();

  [[nodiscard]] bool wait() const { return !ready_.empty(); }
  // Adds up what is ready, in the current block, or each in a block of its own.
  void sum_up();
  void sum_up_apart();

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
  void close(LayerWeights& bucket);
  void sum(const std::string& name, std::int64_t weights, const Copies& copies, OpId by);
  void spread(const std::string& name, std::int64_t weights, const Copies& copies, OpId by);

  BlockWriter& out_;
  const Workload& workload_;
  Stage stage_;
  std::vector<Ready> ready_;
  std::int64_t of_layer_ = 0;   // weights of the current layer that are in buckets already
  LayerWeights common_bucket_;  // not full yet; experts' copies are other GPUs
  LayerWeights experts_bucket_;
  std::vector<LayerWeights> buckets_;  // whose gradients are ready, the last first
  OpId last_sum_ = OpId::none();       // of its stream, so behind all others
};

}  // namespace weft
