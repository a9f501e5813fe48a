// Recorded kernels of two ranks and the all-to-all that waits for them.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/models/run_model.h"
#include "tests/unit/engine/simulated.h"
#include "tests/unit/models/hand_made.h"

namespace weft::testing {

// Two GPUs of four CUs that hold one WG each; 100 GB/s between them; nothing else takes time.
inline Scenario two_of_four_cus() {
  Scenario scenario = one_node(
      {"cluster.gpu.cus=4", "cluster.gpu.cu.wgs=1", "cluster.scale_up.link.bandwidth=100 GB/s",
       "cluster.scale_up.link.latency=0 ns", "fused.extra_registers_per_thread=0"});
  scenario.workload.kind = WorkloadKind::chakra;  // whose operators are made by hand here
  return scenario;
}

inline RecordedShape recorded(Duration time, std::int64_t wgs = 8) {
  RecordedShape shape;
  shape.time = time;
  shape.wgs = wgs;
  return shape;
}

inline CommunicationShape exchange(std::int64_t size) {
  CommunicationShape shape;
  shape.op = CollectiveOp::all_to_all;
  shape.buffer = bytes(size);
  return shape;
}

// A kernel of each rank, then the all-to-all.
struct Trace : HandMadeModel {
  PlaceId of_rank[2] = {groups(0, 1, 1), groups(1, 1, 1)};
  PlaceId both = groups(0, 2, 2);

  OpId kernel(std::uint32_t rank, const OpShape& shape, std::vector<OpId> after = {},
              const std::string& name = "bags") {
    return add(name, "compute", shape, of_rank[rank], std::move(after));
  }
  OpId call(std::vector<OpId> after, std::int64_t size = 16'000'000) {
    return add("exchange", "all_to_all", exchange(size), both, std::move(after), 1);
  }
  // What each rank sends to each: [from * 2 + to].
  OpId uneven_call(std::vector<OpId> after, std::vector<std::int64_t> pair_bytes) {
    CommunicationShape shape =
        exchange(std::max(pair_bytes[0] + pair_bytes[1], pair_bytes[2] + pair_bytes[3]));
    shape.pair_bytes = std::move(pair_bytes);
    return add("exchange", "all_to_all", shape, both, std::move(after), 1);
  }
};

inline Duration time_of(const ModelGraph& graph, Mode mode) {
  Scenario scenario = two_of_four_cus();
  scenario.run.repeats = Repeats::each;
  const Cluster cluster = build_cluster(scenario.cluster);
  ModelRun model(scenario, cluster, graph);
  return model.run(mode, {}).time;
}

}  // namespace weft::testing
