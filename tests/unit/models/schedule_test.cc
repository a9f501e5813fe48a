// When operators of a folded run begin.
#include "sim/models/schedule.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/engine/simulated.h"
#include "tests/unit/models/hand_made.h"

namespace weft::schedule_test {
namespace {

// A product on each of two GPUs, then another on each and the sum of both.
HandMadeModel apart_then_together() {
  HandMadeModel model;
  const PlaceId first = model.groups(0, 1, 1);
  const PlaceId second = model.groups(1, 1, 1);
  model.begin_block("apart");
  const OpId late = model.add("large", "mlp", product(8192, 4096, 4096), first, {});
  const OpId early = model.add("small", "mlp", product(1024, 1024, 4096), second, {});
  model.begin_block("next");
  const OpId left = model.add("small", "mlp", product(1024, 1024, 4096), first, {late});
  const OpId right = model.add("large", "mlp", product(8192, 4096, 4096), second, {early});
  model.begin_block("sum");
  CommunicationShape sum;
  sum.op = CollectiveOp::all_reduce;
  sum.buffer = bytes(1 << 20U);
  model.add("reduce", "all_reduce", sum, model.groups(0, 2, 2), {left, right}, 1);
  return model;
}

RunResult ending_at(SimTime end) {
  RunResult result;
  ExitUse exit;
  exit.end = end;
  result.exits = {exit};
  return result;
}

TEST(Timetable, operators_of_joined_blocks_begin_when_what_they_wait_for_has_ended) {
  const HandMadeModel model = apart_then_together();
  const Cluster cluster = build_cluster(scenario_of(R"(
name: a node of four
cluster: {base: clusters/node_4x_mi210}
workload: {kind: collective, op: all_to_all, bytes: 2 MB}
)")
                                            .cluster);
  const Folded folded = fold(model.graph, cluster, {false, false, true});
  ASSERT_EQ(folded.runs.size(), 3U);
  Timetable timetable(folded);
  EXPECT_EQ(timetable.next({}), (std::vector<TimedPiece>{{.piece = 0}, {.piece = 1}}));
  // GPU 1 goes on after 10 us, GPU 0 90 us later.
  std::vector<RunResult> results = {ending_at(SimTime{} + microseconds(100)),
                                    ending_at(SimTime{} + microseconds(10))};
  const std::vector<Release> releases = {{.op = OpId(0), .after = microseconds(90)}};
  EXPECT_EQ(timetable.next(results), (std::vector<TimedPiece>{{.piece = 2, .releases = releases}}));
  results.emplace_back();
  EXPECT_TRUE(timetable.next(results).empty());
  const Folded timed = std::move(timetable).timed();
  EXPECT_EQ(timed.runs[2].start, SimTime{} + microseconds(10));
}

}  // namespace
}  // namespace weft::schedule_test
