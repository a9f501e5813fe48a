// A scenario whose workload is a whole model, as its operators (docs/model.md, "Whole models").
#pragma once

#include "sim/models/model_graph.h"

namespace weft {

// For workloads that is_model().
ModelGraph build_model(const Scenario& scenario);

}  // namespace weft
