// One function per map of a scenario. Each reads its keys, says what they mean, and finishes.
#pragma once

#include <optional>

#include "sim/scenario/reader.h"
#include "sim/scenario/scenario.h"

namespace weft {

GpuSpec read_gpu(MapReader map);
enum class Fabric { scale_up, scale_out };
FabricSpec read_fabric(MapReader map, Fabric which);
NicSpec read_nic(MapReader map);
ClusterSpec read_cluster(MapReader map);
Workload read_workload(MapReader map);
// Of the map of a workload; `applies`: its kind is collective, or not known.
CollectiveWork read_collective_work(MapReader map, std::optional<bool> applies);
// The keys of whole models in the map of a workload, whose kind may not be known.
void read_model(MapReader map, std::optional<WorkloadKind> kind, Workload& workload);
// What is known about a model's kind and phase.
struct ModelKind {
  std::optional<bool> is_transformer;
  std::optional<bool> has_experts;
  std::optional<bool> trains;
  std::optional<bool> trains_transformer;
};
void read_transformer(MapReader map, const ModelKind& kind, Workload& workload);
// The keys of recorded traces in the same map.
TraceWork read_trace(MapReader map, std::optional<WorkloadKind> kind);
Scenario read_scenario(MapReader map);

}  // namespace weft
