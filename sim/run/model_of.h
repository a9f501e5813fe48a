// The operators of a scenario: built from its description, or read from a recorded trace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/diagnostics.h"
#include "sim/models/model_graph.h"
#include "sim/scenario/overlay.h"
#include "sim/scenario/scenario.h"

namespace weft {

struct Model {
  std::optional<ModelGraph> graph;  // absent: the problems say why
  Diagnostics problems;
  std::string trace;  // what the trace holds, and what was chosen; empty of models described
  std::vector<InputFile> inputs = {};  // files of the trace
};

Model model_of(const Scenario& scenario);

}  // namespace weft
