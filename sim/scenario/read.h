// One function per map of a scenario. Each reads its keys, says what they mean, and finishes.
#pragma once

#include <optional>

#include "sim/scenario/reader.h"
#include "sim/scenario/scenario.h"

namespace weft {

GpuSpec read_gpu(MapReader map);
FabricSpec read_fabric(MapReader map);
NicSpec read_nic(MapReader map);
ClusterSpec read_cluster(MapReader map);
Workload read_workload(MapReader map);
// Of the map of a workload; `applies`: its kind is collective, or not known.
CollectiveWork read_collective_work(MapReader map, std::optional<bool> applies);
Scenario read_scenario(MapReader map);

}  // namespace weft
