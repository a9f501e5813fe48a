#include "sim/models/build_model.h"

#include "sim/core/assert.h"
#include "sim/models/dlrm.h"
#include "sim/models/transformer.h"

namespace weft {

ModelGraph build_model(const Scenario& scenario) {
  SIM_ASSERT(is_model(scenario.workload.kind));
  const Workload& workload = scenario.workload;
  ModelGraph graph = workload.kind == WorkloadKind::dlrm
                         ? build_dlrm(workload, scenario.cluster.gpus())
                         : build_transformer(workload);
  graph.verify();
  return graph;
}

}  // namespace weft
