// One forward, one backward (1F1B): in which order the stages of a pipeline come to microbatches.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

struct PipelineStep {
  // A send is one from `stage` to the next (forward) or to the one before (backward).
  enum class Kind : std::uint8_t { send_forward, send_backward, forward, backward };
  Kind kind = Kind::forward;
  int stage = 0;
  int microbatch = 0;
  bool operator==(const PipelineStep&) const = default;
};

struct PipelineShape {
  int stages = 1;
  int microbatches = 1;
  bool trains = false;  // else forward only
};

// All steps, ordered by when they would begin if a backward took twice as long as a forward and a
// send no time: what a step waits for comes before it, and each stage warms up with as many
// forwards as there are stages behind it, then takes one forward and one backward in turn.
std::vector<PipelineStep> pipeline_order(const PipelineShape& shape);

}  // namespace weft
