// Transfers and what computes beside them.
#include "sim/models/beside.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/engine/simulate.h"
#include "sim/models/build_model.h"
#include "sim/models/needs.h"
#include "sim/models/run_model.h"
#include "tests/unit/models/hand_made.h"
#include "tests/unit/models/one_by_one.h"

namespace weft::beside_test {
namespace {

// A layer of 100 us and a transfer of 50 us begin together and end after 110 and 60 us. The
// transfer was beside the layer all the time: 60 / 50. In the first 60 us the layer has done what
// takes 50 us alone, as it needed 50 us more: 60 / 50, too.
TEST(Slowdown, is_what_both_lose_while_they_are_together) {
  const MutualSlowdown slowdown =
      slowdown_from({.transfer = microseconds(60), .computing = {microseconds(110)}},
                    {.transfer = microseconds(50), .computing = {microseconds(100)}});
  EXPECT_EQ(slowdown.transfer, kAsAlone * 60 / 50);
  EXPECT_EQ(slowdown.computing, std::vector<Slowdown>{kAsAlone * 60 / 50});
}

// Kept out of all CUs until the layer has ended, a transfer gets on at a small pace, not at none.
TEST(Slowdown, of_what_does_nothing_meanwhile_is_bounded) {
  const MutualSlowdown slowdown =
      slowdown_from({.transfer = microseconds(150), .computing = {microseconds(100)}},
                    {.transfer = microseconds(50), .computing = {microseconds(100)}});
  EXPECT_EQ(slowdown.transfer, 64 * kAsAlone);
  EXPECT_EQ(slowdown.computing, std::vector<Slowdown>{kAsAlone});
}

// On GPU 0 twice as long until 30 us, on GPU 1 until 20 us, three times as long from there on: the
// GPU that loses more counts. What both have from the same transfer counts once.
TEST(Beside, of_several_gpus_the_one_that_loses_most_counts) {
  const Beside both{Duration{}, microseconds(20), 2 * kAsAlone};
  const Beside longer{microseconds(20), microseconds(30), 2 * kAsAlone};
  const Beside slower{microseconds(20), microseconds(40), 3 * kAsAlone};
  const std::vector<Beside> most = most_on_a_gpu({{0, {both, longer}}, {1, {both, slower}}});
  EXPECT_EQ(Pace(most).after(microseconds(10)), microseconds(20));
  EXPECT_NEAR(to_microseconds(Pace(most).after(microseconds(16))), 38, 1e-5);
  EXPECT_EQ(most_on_a_gpu({{0, {both, both}}, {1, {both}}}).front().slowdown, 3 * kAsAlone);
}

// Nodes of eight GPUs, the first with a slow one.
Scenario nodes_with_a_straggler() {
  return scenario_of(R"(
name: a straggler
cluster:
  base: clusters/nodes_16x_8x_h100
  nodes: 4
  stragglers: [{gpu: 0, clock: 0.5}]
workload: {kind: collective, op: all_to_all, bytes: 2 MB}
)");
}

Cluster with_a_straggler() { return build_cluster(nodes_with_a_straggler().cluster); }

Piece layer_on(std::uint32_t node, bool in_a_node) {
  HandMadeModel model;
  model.add("up", "mlp", product(1024, 1024, 1024), model.groups(8 * node, 8, 8), {});
  return {.part = std::move(model.graph), .in_a_node = in_a_node};
}

Piece send(std::uint32_t from, std::uint32_t to) {
  HandMadeModel model;
  CommunicationShape shape;
  shape.op = CollectiveOp::point_to_point;
  shape.buffer = bytes(1 << 20U);
  const PlaceId place = model.graph.add_place({.groups = {{from, to}}});
  model.add("send", "send", shape, place, {}, 1);
  return {.part = std::move(model.graph)};
}

RunResult computing_on(std::size_t first_gpus, std::int64_t us) {
  RunResult result;
  result.time = microseconds(us);
  result.gpus.resize(32);
  for (std::size_t gpu = 0; gpu < result.gpus.size(); ++gpu) {
    result.gpus[gpu].end = SimTime{} + result.time;
    if (gpu < first_gpus) result.gpus[gpu].computing = result.time;
  }
  return result;
}

// Layers on nodes 1 to 3 are one piece, sends between them one each, as the cluster has a slow GPU.
// Those from node 1 to 2 and from 2 to 3 are alike still; that from the slow node is not. A send
// that two layers share is beside one of them, which stands for the other.
TEST(Neighbours, are_told_apart_by_what_they_do_and_not_by_where_they_are) {
  const Cluster cluster = with_a_straggler();
  const std::vector<Piece> pieces = {layer_on(0, true), layer_on(0, false), send(8, 16),
                                     send(16, 24), send(0, 8)};
  std::vector<RunResult> results = {computing_on(8, 100), computing_on(8, 100)};
  for (int i = 0; i < 3; ++i) results.push_back(computing_on(0, 200));
  const BlockId layers(0);
  std::vector<PieceRun> runs = {{.piece = 0, .node = 1, .block = layers},
                                {.piece = 0, .node = 2, .block = layers},
                                {.piece = 0, .node = 3, .block = layers},
                                {.piece = 1, .node = 0, .block = layers}};
  for (std::uint32_t i = 2; i < 5; ++i) runs.push_back({.piece = i, .block = BlockId(i)});
  const std::vector<Neighbours> found = FindNeighbours(pieces, results, cluster).in(runs);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].pair, found[1].pair);
  EXPECT_NE(found[0].pair, found[2].pair);
  EXPECT_EQ(found[0].computing.size(), 2U);
  EXPECT_EQ(found[0].pair.computing.size(), 1U);
  EXPECT_EQ(found[2].pair.computing.size(), 2U);  // that of the slow node differs
}

// A sum and a send that end on one GPU at the same time: the sum, which is longer, is the transfer
// of the pair. On one stream they would follow one another.
TEST(Neighbours, are_transfers_on_streams_of_their_own) {
  const Cluster cluster = with_a_straggler();
  std::vector<Piece> pieces = {send(8, 16), send(16, 24)};
  const std::vector<RunResult> results = {computing_on(0, 100), computing_on(0, 200)};
  const std::vector<PieceRun> runs = {{.piece = 0, .block = BlockId(0)},
                                      {.piece = 1, .block = BlockId(1)}};
  EXPECT_TRUE(FindNeighbours(pieces, results, cluster).in(runs).empty());
  pieces[1].part.ops[OpId(0)].stream = 2;
  FindNeighbours find(pieces, results, cluster);
  const std::vector<Neighbours> found = find.in(runs);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].transfer, 1U);
  // 1.5 times as long while both are there: the send for all of its time, the sum while it is.
  const Slowdown half = kAsAlone + kAsAlone / 2;
  const auto beside = find.beside_runs(runs, found, {{found[0].pair, {half, {half}}}});
  EXPECT_EQ(beside[0], (std::vector<Beside>{{Duration{}, microseconds(200), half}}));
  EXPECT_EQ(beside[1], (std::vector<Beside>{{Duration{}, microseconds(100), half}}));
}

// A layer of 50 us and a transfer of 100 us on its GPUs: together if they begin within an eighth of
// the shorter one's time.
TEST(Neighbours, begin_together_whichever_is_longer) {
  const Cluster cluster = with_a_straggler();
  const std::vector<Piece> pieces = {layer_on(0, true), send(8, 16)};
  const std::vector<RunResult> results = {computing_on(8, 50), computing_on(0, 100)};
  const auto together = [&](Duration later) {
    const std::vector<PieceRun> runs = {
        {.piece = 0, .node = 1, .block = BlockId(0), .start = SimTime{} + later},
        {.piece = 1, .block = BlockId(1)}};
    return FindNeighbours(pieces, results, cluster).in(runs).at(0).pair.together;
  };
  EXPECT_TRUE(together({}));
  EXPECT_TRUE(together(microseconds(6)));
  EXPECT_FALSE(together(microseconds(7)));
}

// A sender's kernel ends after 60 us, what it sent has come after 100: so long it is there. If the
// sender then sums gradients with another GPU until 300 us, the receiver is done all the same.
TEST(Neighbours, what_is_sent_is_there_until_it_has_come) {
  Piece transfer = send(0, 8);
  RunResult alone = computing_on(0, 100);
  alone.gpus[0].end = SimTime{} + microseconds(60);
  EXPECT_EQ(ends_on_gpus(transfer.graph(), alone)[0], SimTime{} + microseconds(100));
  ModelOp sum = transfer.part.ops[OpId(0)];
  sum.place = transfer.part.add_place({.groups = {{0, 1}}});
  transfer.part.add(sum);
  alone.gpus[0].end = alone.gpus[1].end = SimTime{} + microseconds(300);
  const std::vector<SimTime> ends = ends_on_gpus(transfer.graph(), alone);
  EXPECT_EQ(ends[0], SimTime{} + microseconds(300));
  EXPECT_EQ(ends[8], SimTime{} + microseconds(100));
}

Scenario pipeline() { return two_stages("gpus_per_node: 4", "tensor: 2, pipeline: 2"); }

PairGraph both_of(const PairBeside& pair, const OneByOne& alone, const Cluster& cluster) {
  return {pair, alone.timed.pieces, alone.results, cluster, PairGraph::Of::both};
}

// Pieces say at least once what they do; once they are done, the first pair does.
TEST(PairsBeside, tell_what_they_have_done) {
  const Scenario scenario = pipeline();
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  ModelRun run(scenario, cluster, graph);
  std::vector<Progress> told;
  const auto tell = [&told](const Progress& all) { told.push_back(all); };
  EXPECT_EQ(run.run(Mode::bulk, tell).ending, Ending::finished);
  const OneByOne alone(scenario, cluster, run.folded());
  ASSERT_FALSE(alone.pairs.empty());
  ASSERT_GE(told.size(), alone.told + alone.pairs.size());
  EXPECT_EQ(told[alone.told].wgs,
            alone.lowered(both_of(*alone.pairs.begin(), alone, cluster)).items.size());
}

// Sends that outlast the layers beside them, which come again in the pair.
Scenario slow_sends() {
  return two_stages("gpus_per_node: 2, scale_up: {link: {bandwidth: 40 Gb/s}}", "pipeline: 2");
}

// A pair of pieces that keep to run.max_events may take more.
TEST(PairsBeside, may_take_the_events_of_all_their_pieces) {
  Scenario scenario = slow_sends();
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  const ModelRun run(scenario, cluster, graph);
  const OneByOne alone(scenario, cluster, run.folded());
  std::uint64_t of_pieces = 0;
  for (const RunResult& piece : alone.results) of_pieces = std::max(of_pieces, piece.events);
  std::uint64_t most = 0;
  for (const PairBeside& pair : alone.pairs) {
    const TaskGraph both = alone.lowered(both_of(pair, alone, cluster));
    most = std::max(most, simulate(cluster, both, scenario.run).events);
  }
  ASSERT_GT(most, of_pieces + 2);
  scenario.run.max_events = static_cast<std::int64_t>((of_pieces + most) / 2);
  const RunResult result = ModelRun(scenario, cluster, graph).run(Mode::bulk, {});
  EXPECT_EQ(result.ending, Ending::finished) << result.stopped_because;
}

// No piece of it takes as long as the model, which takes 12 ms.
TEST(PairsBeside, the_time_limit_is_that_of_the_model) {
  Scenario scenario = pipeline();
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  const auto run = [&] { return ModelRun(scenario, cluster, graph).run(Mode::bulk, {}); };
  const Duration time = run().time;
  scenario.run.max_time = time;
  EXPECT_EQ(run().ending, Ending::finished);
  for (const Duration limit : {time - picoseconds(1), microseconds(1000)}) {
    scenario.run.max_time = limit;
    const RunResult result = run();
    EXPECT_EQ(result.ending, Ending::time_limit);
    const std::string said = fmt::format("run.max_time: reached {:.3f} us", to_microseconds(limit));
    EXPECT_TRUE(result.stopped_because.starts_with(said)) << result.stopped_because;
  }
}

// Of two sends, the one on GPUs of the layer.
TEST(PairsBeside, are_estimated_with_what_of_a_transfer_is_on_the_gpus_of_a_layer) {
  Scenario scenario = nodes_with_a_straggler();
  scenario.workload.kind = WorkloadKind::transformer;  // whose operators are made by hand here
  const Cluster cluster = build_cluster(scenario.cluster);
  const auto needs = [&](const std::vector<Piece>& pieces) {
    return estimated_needs(pieces, scenario, cluster, Mode::bulk);
  };
  const auto beside = [&](const std::vector<Piece>& pieces) {
    return estimated_needs_beside(pieces, scenario, cluster, Mode::bulk);
  };
  const Piece layer = layer_on(0, true);
  const Needs of_layer = needs({layer});
  const Needs of_send = needs({send(0, 8)});
  const Needs both = beside({layer, send(0, 8)});
  EXPECT_EQ(both.items, of_layer.items + of_send.items);
  EXPECT_EQ(both.sends, of_layer.sends + of_send.sends);
  EXPECT_GT(both.memory, of_layer.memory);
  Piece sends = send(0, 8);
  sends.part.places[PlaceId(0)].groups.push_back({16, 24});
  EXPECT_GT(needs({sends}).sends, of_send.sends);
  EXPECT_EQ(beside({layer, sends}).sends, both.sends);
  EXPECT_EQ(beside({layer, send(16, 24)}).memory, Bytes());
  EXPECT_EQ(beside({layer, layer_on(1, false)}).memory, Bytes());
  EXPECT_EQ(beside({send(0, 8), send(16, 24)}).memory, Bytes());
}

TEST(PairsBeside, that_need_too_much_memory_are_refused) {
  Scenario scenario = pipeline();
  scenario.run.max_memory = bytes(1);
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  const RunResult result = ModelRun(scenario, cluster, graph).run(Mode::bulk, {});
  EXPECT_EQ(result.ending, Ending::memory_limit);
  EXPECT_NE(result.stopped_because.find("slow one another"), std::string::npos)
      << result.stopped_because;
}

}  // namespace
}  // namespace weft::beside_test
