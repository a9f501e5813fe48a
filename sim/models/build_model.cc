#include "sim/models/build_model.h"

#include "sim/core/assert.h"
#include "sim/models/dlrm.h"
#include "sim/models/single_operator.h"
#include "sim/models/transformer.h"

namespace weft {

ModelGraph build_model(const Scenario& scenario) {
  const Workload& workload = scenario.workload;
  SIM_ASSERT(!is_trace(workload.kind));
  if (!is_model(workload.kind)) return build_single(scenario);
  ModelGraph graph = workload.kind == WorkloadKind::dlrm
                         ? build_dlrm(workload, scenario.cluster.gpus())
                         : build_transformer(workload);
  graph.verify();
  return graph;
}

}  // namespace weft
