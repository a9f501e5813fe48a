// The operators of a scenario: built from its description, or read from a recorded trace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/models/model_graph.h"
#include "sim/models/moved_kernels.h"
#include "sim/models/recorded_step.h"
#include "sim/scenario/overlay.h"
#include "sim/scenario/scenario.h"

namespace weft {

struct Model {
  std::optional<ModelGraph> graph;  // absent: the problems say why
  Diagnostics problems;
  std::string trace;  // what the trace holds, and what was chosen; empty of models described
  std::vector<InputFile> inputs = {};  // files of the trace
  // What the recording says of its step; none if its kernels' times were changed for another GPU.
  std::optional<RecordedStep> step = {};
  // The GPU that was recorded; unknown as well if times were changed for another one.
  RecordedDevice device = {};
  MovedTimes moved = {};  // whose times were changed, and how; empty: none
};

Model model_of(const Scenario& scenario);

}  // namespace weft
