// Schedules that cut backwards in two: only the optimiser waits for gradients of weights.
#include <algorithm>
#include <map>
#include <utility>

#include "sim/pipeline/schedules.h"

namespace weft::pipelines {
namespace {

// Writes the steps of one stage: for each kind and virtual stage, microbatches in order.
class StepWriter {
 public:
  explicit StepWriter(int stage) : stage_(stage) {}
  void add(Kind kind, int virtual_stage) {
    steps_.push_back({kind, stage_, next_[{kind, virtual_stage}]++, virtual_stage});
  }
  // How many of them there are.
  int count(Kind kind, int virtual_stage) { return next_[{kind, virtual_stage}]; }
  Steps& steps() { return steps_; }

 private:
  int stage_;
  std::map<std::pair<Kind, int>, int> next_;
  Steps steps_;
};

}  // namespace

// Qi et al., "Zero Bubble Pipeline Parallelism", arXiv:2401.10241, Sec. 2.1: 1F1B, in which stage s
// postpones s gradients of weights. With F, B and W the times of a forward and of the two
// gradients, bubbles take (p - 1) (F + B - W); each stage keeps p microbatches, as the first stage
// of 1F1B does.
Steps zero_bubble_h1(const PipelineShape& shape, int stage) {
  StepWriter out(stage);
  const int warm_up = std::min(shape.microbatches, shape.stages - 1 - stage);
  for (int m = 0; m < warm_up; ++m) out.add(Kind::forward, 0);
  for (int m = 0; m < shape.microbatches; ++m) {
    if (m + warm_up < shape.microbatches) out.add(Kind::forward, 0);
    out.add(Kind::input_gradient, 0);
    if (m >= stage) out.add(Kind::weight_gradient, 0);
  }
  while (out.count(Kind::weight_gradient, 0) < shape.microbatches) {
    out.add(Kind::weight_gradient, 0);
  }
  return std::move(out.steps());
}

// ZB-V, Sec. 6 of the same paper and Qi et al., arXiv:2405.15362, as PyTorch writes it
// (torch.distributed.pipelining.ScheduleZBVZeroBubble). If all three take equally long, a stage
// never waits once it has begun: the step takes p - 1 units longer than the work. A stage keeps at
// most 2 p microbatches of its half-sized parts. Written for 2 p - 1 microbatches or more; with
// fewer, the steps of those that do not exist are removed.
Steps zero_bubble_v(const PipelineShape& shape, int stage) {
  StepWriter out(stage);
  const int all = std::max(2 * shape.stages - 1, shape.microbatches);
  const auto backward = [&out](int virtual_stage) {
    out.add(Kind::input_gradient, virtual_stage);
    out.add(Kind::weight_gradient, virtual_stage);
  };
  const int behind = shape.stages - stage;
  for (int i = 0; i < 2 * behind - 1; ++i) out.add(Kind::forward, 0);
  for (int i = 0; i < stage; ++i) {
    out.add(Kind::forward, 1);
    out.add(Kind::forward, 0);
  }
  for (int i = 0; i < behind; ++i) {
    out.add(Kind::forward, 1);
    backward(1);
  }
  while (out.count(Kind::forward, 1) < all) {
    if (out.count(Kind::forward, 0) < all) out.add(Kind::forward, 0);
    backward(0);
    out.add(Kind::forward, 1);
    backward(1);
  }
  for (int i = 0; i < stage; ++i) {
    out.add(Kind::input_gradient, 0);
    out.add(Kind::input_gradient, 1);
  }
  for (int i = 0; i < behind; ++i) backward(0);
  for (const int v : {1, 0}) {
    while (out.count(Kind::weight_gradient, v) < all) out.add(Kind::weight_gradient, v);
  }
  Steps& steps = out.steps();
  std::erase_if(steps, [&](const PipelineStep& s) { return s.microbatch >= shape.microbatches; });
  return std::move(steps);
}

}  // namespace weft::pipelines
