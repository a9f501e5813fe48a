// What of a piece has to be simulated beside a transfer that ends before it.
#include "sim/models/beginning.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sim/engine/simulate.h"
#include "sim/models/beside.h"
#include "sim/models/build_model.h"
#include "tests/unit/models/hand_made.h"
#include "tests/unit/models/one_by_one.h"

namespace weft::beginning_test {
namespace {

// A norm, a gather and its product, an activation, and a sum of what came before beside them.
ModelGraph layer(std::vector<OpId> sum_after) {
  HandMadeModel model;
  const PlaceId all = model.groups(0, 8, 8);
  CommunicationShape call;
  call.op = CollectiveOp::all_gather;
  call.buffer = bytes(1 << 20U);
  model.add("norm", "norm", product(64, 64, 64), all, {});
  model.add("gather", "all_gather", call, all, {OpId(0)}, 1);
  model.add("up", "mlp", product(1024, 1024, 1024), all, {OpId(1)});
  model.add("activation", "mlp", product(64, 64, 64), all, {});
  model.add("down", "mlp", product(1024, 1024, 1024), all, {});
  call.op = CollectiveOp::all_reduce;
  model.add("sum", "all_reduce", call, all, std::move(sum_after), 2);
  return std::move(model.graph);
}

RunResult begun_at(const std::map<std::string, std::int64_t>& us) {
  RunResult result;
  for (const auto& [name, start] : us) {
    OperatorUse& use = result.operators.emplace_back();
    use.name = name;
    use.first_start = SimTime{} + microseconds(start);
  }
  return result;
}

const std::map<std::string, std::int64_t> kStarts{
    {"norm", 0}, {"gather (direct)", 10}, {"up", 30}, {"activation", 70}, {"down", 80}};

// Up follows a collective, whose parts it may work on as they come: no cut is there. Activation is
// the first that may be left out, with all that waits for it; from 70 us on it may have begun.
TEST(Beginning, ends_before_the_first_operator_that_begins_later_and_all_others_wait_for) {
  const ModelGraph graph = layer({OpId(4)});
  const RunResult alone = begun_at(kStarts);
  EXPECT_EQ(beginning_of(graph, alone, microseconds(5)), 3U);
  EXPECT_EQ(beginning_of(graph, alone, microseconds(70)), 3U);
  EXPECT_EQ(beginning_of(graph, alone, microseconds(71)), 4U);
  EXPECT_EQ(beginning_of(graph, alone, microseconds(81)), 6U);
  EXPECT_EQ(first_operators_of(graph, 3).ops.size(), 3U);
}

// A sum that waits for the norm alone goes on beside all that follows.
TEST(Beginning, is_everything_where_something_waits_for_none_of_the_rest) {
  EXPECT_EQ(beginning_of(layer({OpId(0)}), begun_at(kStarts), microseconds(5)), 6U);
}

// An operator that is overlapped has another name, and begins at a time that is not known.
TEST(Beginning, does_not_end_before_an_operator_that_has_no_start) {
  auto starts = kStarts;
  starts.erase("activation");
  EXPECT_EQ(beginning_of(layer({OpId(4)}), begun_at(starts), microseconds(5)), 4U);
}

// Of every pair of a pipeline with sends beside layers: from the beginning of the layer the same
// slowdowns follow as from all of it, within 1 % of what it loses and 0.1 % of its time, and it
// takes fewer events.
TEST(Beginning, tells_what_all_of_a_layer_does_beside_a_send) {
  const Scenario scenario = two_stages("gpus_per_node: 4", "tensor: 2, pipeline: 2");
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  const Folded folded = fold(graph, cluster);
  const OneByOne alone(scenario, cluster, folded);
  const auto run = [&](const PairGraph& pair) {
    return simulate(cluster, alone.lowered(pair), scenario.run);
  };
  int cut = 0;
  for (const PairBeside& pair : alone.pairs) {
    std::uint64_t events = 0;
    bool is_enough = true;
    const auto slowdown = [&](PairGraph::Computing computing) {
      std::vector<PairGraph::Ends> ends;
      for (const auto of : {PairGraph::Of::both, PairGraph::Of::computing}) {
        const PairGraph one(pair, alone.timed.pieces, alone.results, cluster, of, computing);
        const RunResult result = run(one);
        ends.push_back(one.ends(result));
        events += result.events;
        if (of == PairGraph::Of::both) is_enough = one.is_enough(ends.back());
      }
      const PairGraph sent(pair, alone.timed.pieces, alone.results, cluster,
                           PairGraph::Of::transfer, computing);
      ends[1].transfer = sent.ends(run(sent)).transfer;
      return slowdown_from(ends[0], ends[1]);
    };
    const MutualSlowdown some = slowdown(PairGraph::Computing::beginning);
    const std::uint64_t of_some = std::exchange(events, 0);
    if (!is_enough) continue;
    const MutualSlowdown all = slowdown(PairGraph::Computing::whole);
    const auto near = [](Slowdown a, Slowdown b) {
      return std::abs(a - b) <= std::abs(b - kAsAlone) / 100 + kAsAlone / 1000;
    };
    EXPECT_TRUE(near(some.transfer, all.transfer)) << some.transfer << ' ' << all.transfer;
    ASSERT_EQ(some.computing.size(), all.computing.size());
    for (std::size_t i = 0; i < some.computing.size(); ++i) {
      EXPECT_TRUE(near(some.computing[i], all.computing[i]))
          << some.computing[i] << ' ' << all.computing[i];
    }
    EXPECT_LE(of_some, events);
    cut += of_some < events ? 1 : 0;
  }
  EXPECT_GT(cut, 0);
}

}  // namespace
}  // namespace weft::beginning_test
