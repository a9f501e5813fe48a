// The keys of a scenario and of its parts (sim/spec/fields.h).
#pragma once

#include "sim/scenario/scenario.h"
#include "sim/spec/fields.h"

namespace weft {

void fields(Fields& map, Scenario& scenario);
void fields(Fields& map, ClusterSpec& cluster);
void fields(Fields& map, Workload& workload);

// Those of whole models and of traces, in the map of the workload.
void model_fields(Fields& map, Workload& workload);
void transformer_fields(Fields& map, Workload& workload);
void trace_fields(Fields map, Workload& workload);
// Those of a collective alone, in the same map.
void collective_fields(Fields map, CollectiveWork& work);

}  // namespace weft
