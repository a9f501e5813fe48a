// The operators that a scenario describes: those of a whole model (docs/model.md, "Whole models"),
// or one and its collective.
#pragma once

#include "sim/models/model_graph.h"

namespace weft {

// For workloads other than recorded traces.
ModelGraph build_model(const Scenario& scenario);

}  // namespace weft
