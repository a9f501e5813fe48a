#include "sim/app/model_of.h"

#include <utility>

#include "sim/models/build_model.h"
#include "sim/traces/load_trace.h"

namespace weft {

Model model_of(const Scenario& scenario) {
  const Workload& workload = scenario.workload;
  if (is_trace(workload.kind)) {
    LoadedTrace loaded =
        load_trace(workload.trace, scenario.cluster.gpus(), scenario.run.max_memory);
    return {.graph = std::move(loaded.graph),
            .problems = std::move(loaded.problems),
            .trace = to_text(loaded.summary),
            .inputs = std::move(loaded.inputs)};
  }
  Model model;
  model.graph = is_model(workload.kind) ? build_model(scenario) : ModelGraph();
  return model;
}

}  // namespace weft
