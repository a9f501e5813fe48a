// The host's recorded time among recorded kernels.
#include <gtest/gtest.h>

#include "sim/models/lower_model.h"
#include "tests/unit/engine/simulated.h"

namespace weft::host_time_test {
namespace {

RecordedShape recorded(Duration time) { return {.time = time, .lds = {}}; }

ModelOp op_of(const std::string& name, const RecordedShape& shape, std::uint32_t stream) {
  ModelOp op;
  op.name = op.part = name;
  op.shape = shape;
  op.place = PlaceId(0);
  op.stream = stream;
  return op;
}

// A kernel that takes all registers of every CU for 100 us. Meanwhile the host works 3 times for
// 20 us, and then launches a kernel of 10 us on another stream, which finds a slot at 100 us.
TEST(HostTime, passes_while_kernels_have_every_slot) {
  const Scenario scenario = scenario_of(
      "name: host\ncluster: {name: one, nodes: 1, gpus_per_node: 1, gpu: {base: gpus/h200}}\n"
      "workload: {kind: graph, path: none}\nmodes: [bulk]\nrun: {launch: graph}\n");
  const Cluster cluster = build_cluster(scenario.cluster);
  ModelGraph graph;
  graph.add_place({.groups = {{0}}});
  RecordedShape full = recorded(microseconds(100));
  full.wgs = 132;
  full.threads = 1024;
  full.registers_per_thread = 64;
  graph.add(op_of("full", full, 0));
  RecordedShape host = recorded(microseconds(20));
  host.host = true;
  OpId last = OpId::none();
  for (int i = 0; i < 3; ++i) last = graph.add(op_of("host", host, 1));
  ModelOp next = op_of("next", recorded(microseconds(10)), 2);
  next.after = {last};
  graph.add(next);
  const TaskGraph tasks = lower_model(graph, {.options = overlap_options(scenario),
                                              .cluster = cluster,
                                              .mode = Mode::bulk,
                                              .fusions = {}});
  const RunResult result = simulate(cluster, tasks, scenario.run);
  ASSERT_EQ(result.ending, Ending::finished) << result.stopped_because;
  for (const OperatorUse& use : result.operators) {
    if (use.name == "host") {
      EXPECT_EQ(use.last_end, SimTime{} + microseconds(60));
      EXPECT_EQ(use.sum, Duration{});
    }
  }
  EXPECT_NEAR(to_microseconds(result.time), 110, 3);
}

}  // namespace
}  // namespace weft::host_time_test
