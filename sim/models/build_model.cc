#include "sim/models/build_model.h"

#include "sim/core/assert.h"
#include "sim/models/dlrm.h"

namespace weft {

ModelGraph build_model(const Scenario& scenario) {
  SIM_ASSERT(is_model(scenario.workload.kind));
  ModelGraph graph = build_dlrm(scenario.workload, scenario.cluster.gpus());
  graph.verify();
  return graph;
}

}  // namespace weft
