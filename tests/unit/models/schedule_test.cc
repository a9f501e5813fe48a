// When operators of a folded run begin.
#include "sim/models/schedule.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/engine/simulated.h"
#include "tests/unit/models/hand_made.h"

namespace weft::schedule_test {
namespace {

CommunicationShape summing() {
  CommunicationShape sum;
  sum.op = CollectiveOp::all_reduce;
  sum.buffer = bytes(1 << 20U);
  return sum;
}

// A product on each of two GPUs, then another on each, the sum of both, and a further sum.
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
  const OpId sum =
      model.add("reduce", "all_reduce", summing(), model.groups(0, 2, 2), {left, right}, 1);
  model.begin_block("further sum");
  model.add("again", "all_reduce", summing(), model.groups(0, 2, 2), {sum}, 1);
  return model;
}

Cluster node_of_four() {
  return build_cluster(scenario_of(R"(
name: a node of four
cluster: {base: clusters/node_4x_mi210}
workload: {kind: collective, op: all_to_all, bytes: 2 MB}
)")
                           .cluster);
}

SimTime at(std::int64_t us) { return SimTime{} + microseconds(us); }

RunResult ending_at(SimTime end) {
  RunResult result;
  ExitUse exit;
  exit.end = end;
  result.exits = {exit};
  return result;
}

TEST(Timetable, operators_of_joined_blocks_begin_when_what_they_wait_for_has_ended) {
  const HandMadeModel model = apart_then_together();
  const Folded folded = fold(model.graph, node_of_four(), {false, false, true, false});
  ASSERT_EQ(folded.runs.size(), 4U);
  EXPECT_TRUE(folded.runs[2].joined);
  EXPECT_FALSE(folded.runs[3].joined);
  Timetable timetable(folded);
  EXPECT_EQ(timetable.next({}),
            (std::vector<TimedPiece>{{.piece = 0}, {.piece = 1}, {.piece = 3}}));
  // GPU 1 goes on after 10 us, GPU 0 90 us later.
  std::vector<RunResult> results = {ending_at(at(100)), ending_at(at(10)), RunResult{}};
  const std::vector<Release> releases = {{.op = OpId(0), .after = microseconds(90)}};
  EXPECT_EQ(timetable.next(results), (std::vector<TimedPiece>{{.piece = 2, .releases = releases}}));
  results.push_back(ending_at(at(200)));
  EXPECT_TRUE(timetable.next(results).empty());
  const Folded timed = std::move(timetable).timed();
  EXPECT_EQ(timed.runs[2].start, at(10));
  EXPECT_EQ(timed.runs[3].start, at(10 + 200));
}

TEST(Timetable, operators_of_a_block_that_is_not_joined_begin_together) {
  const HandMadeModel model = apart_then_together();
  const Folded folded = fold(model.graph, node_of_four());
  ASSERT_EQ(folded.runs.size(), 6U);
  Timetable timetable(folded);
  EXPECT_EQ(timetable.next({}).size(), 6U);
  const std::vector<RunResult> results = {ending_at(at(100)), ending_at(at(10)), ending_at(at(20)),
                                          ending_at(at(30)),  ending_at(at(5)),  RunResult{}};
  EXPECT_TRUE(timetable.next(results).empty());
  const Folded timed = std::move(timetable).timed();
  EXPECT_EQ(timed.runs[2].start, at(100));
  EXPECT_EQ(timed.runs[3].start, at(10));
  EXPECT_EQ(timed.runs[4].start, at(100 + 20));  // the other product ends at 10 + 30
  EXPECT_EQ(timed.runs[5].start, at(100 + 20 + 5));
}

// Computes on both of its GPUs and ends at `time`; its exits at `ends`.
RunResult computing_until(SimTime time, const std::vector<SimTime>& ends) {
  RunResult result;
  result.time = time - SimTime{};
  result.gpus.resize(2);
  for (GpuUse& gpu : result.gpus) gpu.computing = microseconds(1);
  for (const SimTime end : ends) {
    result.exits.emplace_back();
    result.exits.back().end = end;
  }
  return result;
}

// A layer; a sum that waits for it; a layer, joined with the block before it, whose product waits
// for parameters that are gathered after the sum.
struct GatherAfterSum {
  HandMadeModel model;
  Joined joined = {false, false, false, true};

  GatherAfterSum() {
    const PlaceId both = model.groups(0, 2, 2);
    const PlaceId each = model.groups(0, 2, 1);
    model.begin_block("layer");
    const OpId layer = model.add("layer", "mlp", product(1024, 1024, 1024), each, {});
    const OpId inside = model.add("inside", "all_reduce", summing(), both, {layer}, 1);
    model.begin_block("sum");
    const OpId sum = model.add("sum", "all_reduce", summing(), both, {inside}, 2);
    model.begin_block("gather");
    const OpId gather = model.add("gather", "all_reduce", summing(), both, {sum}, 10);
    model.begin_block("next layer");
    model.add("next", "mlp", product(1024, 1024, 1024), each, {gather});
  }
};

// The layer's product ends after 10 us, all of it after 20 us, the sum after 50 us: the stream of
// the next layer's product is free at 10 us, but it is gathered for from 50 us on.
TEST(Schedule, what_waits_in_its_own_piece_does_not_meet_what_ends_before) {
  const GatherAfterSum gathering;
  const Cluster cluster = node_of_four();
  Folded timed = fold(gathering.model.graph, cluster, gathering.joined);
  ASSERT_EQ(timed.runs.size(), 3U);
  ASSERT_EQ(timed.pieces[0].exits.size(), 2U);
  timed.runs[1].start = at(20);
  timed.runs[2].start = at(50);
  RunResult sum = computing_until(at(30), {at(30)});
  for (GpuUse& gpu : sum.gpus) gpu.computing = {};
  const std::vector<RunResult> results = {computing_until(at(20), {at(10), at(20)}), sum,
                                          computing_until(at(30), {})};
  EXPECT_EQ(join_where_runs_meet(timed, results, cluster, gathering.joined), gathering.joined);
}

// The product is the first on its stream; a sum at the end of its block waits for the layer's end.
TEST(Schedule, what_computes_behind_a_collective_meets_what_has_not_ended_by_then) {
  HandMadeModel model;
  const PlaceId both = model.groups(0, 2, 2);
  const PlaceId each = model.groups(0, 2, 1);
  model.begin_block("layer");
  const OpId layer = model.add("layer", "mlp", product(1024, 1024, 1024), each, {}, 3);
  const OpId inside = model.add("inside", "all_reduce", summing(), both, {layer}, 1);
  model.begin_block("gather");
  const OpId gather = model.add("gather", "all_reduce", summing(), both, {layer}, 10);
  model.begin_block("next layer");
  const OpId next = model.add("next", "mlp", product(1024, 1024, 1024), each, {gather});
  model.add("sum", "all_reduce", summing(), both, {next, inside}, 2);
  const Cluster cluster = node_of_four();
  const Joined joined = {false, false, true};
  Folded timed = fold(model.graph, cluster, joined);
  ASSERT_EQ(timed.runs.size(), 2U);
  ASSERT_EQ(timed.pieces[0].exits.size(), 2U);
  timed.runs[1].start = at(10);
  const std::vector<RunResult> results = {computing_until(at(100), {at(10), at(100)}),
                                          computing_until(at(30), {})};
  EXPECT_EQ(join_where_runs_meet(timed, results, cluster, joined), (Joined{false, true, true}));
}

TEST(Schedule, blocks_that_meet_again_are_joined_with_further_ones_around_them) {
  const Joined joined = {false, true, false, false, false, false, false, false, true};
  const Joined more = {false, true, false, false, false, true, false, false, true};
  EXPECT_EQ(join_around(joined, more, 0), more);
  EXPECT_EQ(join_around(joined, more, 1),
            (Joined{false, true, false, false, true, true, true, false, true}));
  EXPECT_EQ(join_around(joined, more, 9),
            (Joined{false, true, true, true, true, true, true, true, true}));
}

}  // namespace
}  // namespace weft::schedule_test
