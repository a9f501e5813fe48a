// Schedules that do not cut backwards in two.
#include <algorithm>

#include "sim/pipeline/schedules.h"

namespace weft::pipelines {

// Narayanan et al., arXiv:2104.04473, Sec. 2.2.1: a stage warms up with as many forwards as there
// are stages after it. With m microbatches on p stages, bubbles are (p - 1) / m of the work; a
// stage keeps the activations of at most p microbatches.
Steps one_forward_one_backward(const PipelineShape& shape, int stage) {
  const int warm_up = std::min(shape.microbatches, shape.stages - 1 - stage);
  Steps steps;
  steps.reserve(2 * static_cast<std::size_t>(shape.microbatches));
  for (int m = 0; m < warm_up; ++m) steps.push_back({Kind::forward, stage, m});
  for (int m = warm_up; m < shape.microbatches; ++m) {
    steps.push_back({Kind::forward, stage, m});
    steps.push_back({Kind::backward, stage, m - warm_up});
  }
  for (int m = shape.microbatches - warm_up; m < shape.microbatches; ++m) {
    steps.push_back({Kind::backward, stage, m});
  }
  return steps;
}

namespace {

// p microbatches go through the first virtual stages, then through the second ones, and so on; then
// the next p. Once `earlier` more forwards are done than a microbatch needs to come back, each
// forward is followed by a backward, or done at once with it.
struct Turns {
  int earlier = 0;
  bool at_once = false;
};
Steps in_groups(const PipelineShape& shape, int stage, const Turns& turns) {
  const int group = shape.stages * shape.virtual_stages;
  const auto forward = [&](int k) {
    return PipelineStep{Kind::forward, stage, k / group * shape.stages + k % shape.stages,
                        k % group / shape.stages};
  };
  const auto backward = [&](int k) {
    PipelineStep step = forward(k);
    step.kind = Kind::backward;
    step.virtual_stage = shape.virtual_stages - 1 - step.virtual_stage;
    return step;
  };
  const int all = shape.microbatches * shape.virtual_stages;
  const int warm_up = std::min(all, 2 * (shape.stages - 1 - stage) +
                                        (shape.virtual_stages - 1) * shape.stages + turns.earlier);
  Steps steps;
  steps.reserve(2 * static_cast<std::size_t>(all));
  for (int k = 0; k < warm_up; ++k) steps.push_back(forward(k));
  for (int k = warm_up; k < all; ++k) {
    steps.push_back(forward(k));
    steps.back().overlaps_next = turns.at_once;
    steps.push_back(backward(k - warm_up));
  }
  for (int k = all - warm_up; k < all; ++k) steps.push_back(backward(k));
  return steps;
}

}  // namespace

// Same paper, Sec. 2.2.2: with v virtual stages bubbles are (p - 1) / (v m) of the work; the first
// stage keeps at most v p + p - 1 microbatches, counted for each of its v parts (Korthikanti et
// al., arXiv:2205.05198, Sec. 4.2.3).
Steps interleaved(const PipelineShape& shape, int stage) { return in_groups(shape, stage, {}); }

// Megatron-LM's combined_1f1b.py with virtual stages: "an extra warm-up microbatch", without which
// the last stage's forward would wait for its own backward. Bubbles stay (p - 1) (F + B), of a
// whole backward B, beside the work of the last stage, which has the most pairs; each stage keeps
// one microbatch more.
Steps combined_1f1b(const PipelineShape& shape, int stage) {
  return in_groups(shape, stage, {.earlier = 1, .at_once = true});
}

// Lamy-Poirier, arXiv:2211.05953; with one virtual stage it is GPipe (Huang et al.,
// arXiv:1811.06965). Bubbles are (p - 1) / (v m) of the work, and all microbatches are kept.
Steps breadth_first(const PipelineShape& shape, int stage) {
  Steps steps;
  for (int v = 0; v < shape.virtual_stages; ++v) {
    for (int m = 0; m < shape.microbatches; ++m) steps.push_back({Kind::forward, stage, m, v});
  }
  for (int v = shape.virtual_stages - 1; v >= 0; --v) {
    for (int m = 0; m < shape.microbatches; ++m) steps.push_back({Kind::backward, stage, m, v});
  }
  return steps;
}

}  // namespace weft::pipelines
