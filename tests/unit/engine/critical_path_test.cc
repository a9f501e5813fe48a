// The critical path of graphs made by hand.
#include "sim/engine/critical_path.h"

#include <gtest/gtest.h>

#include "tests/unit/engine/simulated.h"

namespace weft::critical_path_test {
namespace {

SimTime at(std::int64_t us) { return SimTime{} + microseconds(us); }

KernelId add(TaskGraph& graph, std::uint32_t gpu, const std::vector<KernelId>& after) {
  Kernel kernel;
  kernel.gpu = GpuId(gpu);
  graph.items.add({.work = 0, .scale = Item::kUnit});
  return graph.add_kernel(kernel, after);
}

TEST(CriticalPath, goes_through_the_dependency_that_ended_last) {
  //  a 0..10 ──> c 12..20      b ended at 7 only
  //  b 0..7  ──> c
  TaskGraph graph;
  const KernelId a = add(graph, 0, {});
  const KernelId b = add(graph, 0, {});
  add(graph, 0, {a, b});
  const std::vector<PathStep> path =
      critical_path(graph,
                    {{.start = at(0), .end = at(10)},
                     {.start = at(0), .end = at(7)},
                     {.start = at(12), .end = at(20), .released_by = a}},
                    KernelId(2));
  ASSERT_EQ(path.size(), 2U);
  EXPECT_EQ(path[0].kernel.value, 2U);
  EXPECT_EQ(path[0].until - path[0].from, microseconds(8));
  EXPECT_EQ(path[0].gap, microseconds(2));
  EXPECT_EQ(path[1].kernel, a);
  EXPECT_EQ(path[1].until - path[1].from, microseconds(10));
}

TEST(CriticalPath, of_a_collective_goes_on_at_the_gpu_that_came_last) {
  //  GPU 0: product 0..5, collective 6..20     GPU 1: product 0..13, collective 14..20
  TaskGraph graph;
  const KernelId early = add(graph, 0, {});
  const KernelId late = add(graph, 1, {});
  const KernelId first = add(graph, 0, {early});
  const KernelId second = add(graph, 1, {late});
  for (const KernelId id : {first, second}) {
    graph.kernels[id].team_first = first.value;
    graph.kernels[id].team_size = 2;
  }
  const std::vector<PathStep> path =
      critical_path(graph,
                    {{.start = at(0), .end = at(5)},
                     {.start = at(0), .end = at(13)},
                     {.start = at(6), .end = at(20), .released_by = early},
                     {.start = at(14), .end = at(20), .released_by = late}},
                    first);
  ASSERT_EQ(path.size(), 2U);
  EXPECT_EQ(path[0].until - path[0].from, microseconds(6));
  EXPECT_EQ(path[0].gap, microseconds(1));
  EXPECT_EQ(path[1].kernel, late);
}

TEST(CriticalPath, goes_back_from_any_kernel) {
  // Of b, which ended before the run did: b alone, whatever a takes.
  TaskGraph graph;
  const KernelId a = add(graph, 0, {});
  const KernelId b = add(graph, 1, {});
  const std::vector<KernelSpan> spans{{.start = at(0), .end = at(10)},
                                      {.start = at(1), .end = at(7)}};
  EXPECT_EQ(last_to_end({a, b}, spans), a);
  const std::vector<PathStep> path = critical_path(graph, spans, b);
  ASSERT_EQ(path.size(), 1U);
  EXPECT_EQ(path[0].until - path[0].from, microseconds(6));
  EXPECT_EQ(path[0].gap, microseconds(1));
}

TEST(CriticalPath, and_its_launches_are_the_time_of_the_run) {
  for (const Mode mode : {Mode::bulk, Mode::kernel, Mode::fused}) {
    const RunResult result = run(scenario_of_file("scenarios/embedding_a2a_2_nodes.yaml"), mode);
    Duration sum = result.path_gaps;
    for (const OperatorUse& use : result.operators) sum += use.critical;
    EXPECT_EQ(sum, result.time);
  }
}

}  // namespace
}  // namespace weft::critical_path_test
