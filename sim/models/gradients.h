// What data parallelism does at the end of a step, for one stage: it sums gradients concurrently
// with the backward pass, runs the optimiser, and, where each GPU updates only a part, gathers the
// parameters on all GPUs.
#pragma once

#include <string>
#include <vector>

#include "sim/models/block_writer.h"
#include "sim/models/copies.h"
#include "sim/models/stage.h"
#include "sim/scenario/scenario.h"

namespace weft {

class Gradients {
 public:
  Gradients(BlockWriter& out, const Workload& workload, const Stage& stage)
      : out_(out), workload_(workload), stage_(stage) {}

  // Whether other GPUs have the same weights.
  [[nodiscard]] bool are_summed() const { return of_common().all() > 1; }

  // The backward pass of this microbatch begins: those of each are summed (parallel.gradient_sums),
  // or those of the last, to which the others' were added.
  void begin_microbatch(int microbatch);
  [[nodiscard]] bool each_is_summed() const { return parallel().sums_each(); }

  // The current layer now has the gradients of so many of the weights that all copies of the model
  // share. With buckets, those that are full can be summed from here on.
  void made(std::int64_t weights);
  // A layer with these weights has all its gradients, made by the last operator that was computed.
  void are_ready(const LayerWeights& layer);
  // No more will come to the last bucket.
  void close();

  [[nodiscard]] bool wait() const { return !ready_.empty(); }
  // Sums what is ready, in the current block, or each in a block of its own.
  void sum_up();
  void sum_up_apart();

  // The last that was begun: what comes after the backward pass of a microbatch waits for it, as in
  // PyTorch's FSDP and DeepSpeed. None where they are not summed after each.
  [[nodiscard]] OpId sum_of_microbatch() const {
    return each_is_summed() ? last_sum_ : OpId::none();
  }

  // This stage's optimiser also waits for this sum, which is made elsewhere.
  void wait_for(OpId sum) { last_sum_ = sum; }

  // Updates all weights of the stage, in a block of its own, after its last gradients have been
  // sent to the previous stage (none: nothing is sent): frameworks wait for that send.
  void update(const LayerWeights& weights, OpId sent);

 private:
  struct Ready {
    LayerWeights weights;
    OpId by;
  };
  [[nodiscard]] const ParallelSpec& parallel() const { return workload_.transformer.parallel; }
  [[nodiscard]] Copies of_common() const { return copies_of_common(stage_, parallel()); }
  [[nodiscard]] Copies of_experts() const { return copies_of_experts(stage_, parallel()); }
  [[nodiscard]] std::int64_t summed(const LayerWeights& weights) const {
    return summed_weights(weights, stage_, parallel());
  }
  [[nodiscard]] DataType made_type() const;
  void close(LayerWeights& bucket);
  void scale(const LayerWeights& weights);
  void copy_in(const LayerWeights& weights);
  void sum(const std::string& name, std::int64_t weights, const Copies& copies, OpId by);
  void sum_across(const std::string& name, std::int64_t weights, const Copies& copies);
  void add_part(const std::string& name, std::int64_t weights, const Copies& copies);
  void spread(const LayerWeights& weights, OpId by);

  BlockWriter& out_;
  const Workload& workload_;
  Stage stage_;
  std::vector<Ready> ready_;
  int microbatch_ = 0;
  std::int64_t of_layer_ = 0;   // weights of the current layer that are in buckets already
  LayerWeights common_bucket_;  // not full yet; copies of experts are on other GPUs
  LayerWeights experts_bucket_;
  std::vector<LayerWeights> buckets_;     // with all gradients; last layers first
  OpId last_sum_ = OpId::none();          // the last of its stream, so after all others
  OpId buffer_in_use_by_ = OpId::none();  // of copy_in
};

}  // namespace weft
