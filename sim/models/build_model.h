// What a scenario describes as its operators: those of a whole model (docs/model.md, "Whole
// models"), or one and its collective.
#pragma once

#include "sim/models/model_graph.h"

namespace weft {

// For workloads that are not recorded.
ModelGraph build_model(const Scenario& scenario);

}  // namespace weft
