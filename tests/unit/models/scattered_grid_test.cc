// Experts whose tokens come from all GPUs in uneven numbers and go home: tiles, and what fused
// kernels send.
#include "sim/models/scattered_grid.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/models/lower_model.h"
#include "tests/unit/engine/simulated.h"

namespace weft::scattered_grid_test {
namespace {

constexpr std::int64_t kHidden = 4096;
constexpr std::int64_t kRow = kHidden * 2;  // bytes

Scenario two_h100() {
  return scenario_of(
      "name: two\ncluster: {base: clusters/node_8x_h100, gpus_per_node: 2}\n"
      "workload: {kind: collective, op: all_to_all, bytes: 1 MiB}\n");
}

// Rank 0 keeps 3 rows and sends 70; rank 1 sends 5 and keeps 1.
GemmShape product(std::int64_t experts = 1) {
  GemmShape gemm{.m = 73, .n = kHidden, .k = 14'336, .batch = experts};
  gemm.m_by_rank = {73 / experts + 1, 6 / experts + 1};
  return gemm;
}
CommunicationShape combine() {
  return {.op = CollectiveOp::all_to_all,
          .buffer = bytes(2 * 70 * kRow),
          .pair_bytes = {3 * kRow, 70 * kRow, 5 * kRow, 1 * kRow}};
}

PeerGrid combined(const GemmShape& gemm) {
  const CommunicationShape call = combine();
  return scattered_grid(gemm, {call, Travels::result, 2}, two_h100().cluster.gpu, nullptr);
}

TEST(ScatteredGrid, cuts_each_experts_rows_into_tiles_by_owner) {
  const PeerGrid made = combined(product());
  ASSERT_TRUE(made.grid && made.grid->scattered);
  const ScatteredTiles& tiles = *made.grid->scattered;
  const std::int64_t tile_m = made.grid->result_bytes / tiles.width / 2;
  // The first tile has the 3 rows that stay and what fits of the 70 after them; and so on.
  EXPECT_EQ(tiles.rows[0].front(),
            (ScatteredTiles::Row{3, std::min<std::int64_t>(70, tile_m - 3)}));
  std::int64_t sent = 0;
  for (const ScatteredTiles::Row& row : tiles.rows[0]) {
    EXPECT_LE(row[0] + row[1], tile_m);
    sent += row[1];
  }
  EXPECT_EQ(sent, 70);
  EXPECT_EQ(tiles.rows[1], (std::vector<ScatteredTiles::Row>{{5, 1}}));
}

TEST(ScatteredGrid, deals_a_gpus_rows_evenly_to_its_experts) {
  const PeerGrid made = combined(product(2));
  const ScatteredTiles& tiles = *made.grid->scattered;
  // Of 5 and 1 rows: 2 and 0 to the first expert, 3 and 1 to the second. 3 and 70: 1, 35; 2, 35.
  EXPECT_EQ(tiles.rows[1], (std::vector<ScatteredTiles::Row>{{2, 0}, {3, 1}}));
  EXPECT_EQ(tiles.rows[0].front()[0], 1);
}

// What is combined goes home; dispatched, it came the other way: 3 rows of rank 0 stay, 5 come from
// rank 1, to which it sends 70.
PeerGrid dispatched() {
  const CommunicationShape call = combine();
  GemmShape gemm = product();
  gemm.k = kHidden;
  gemm.m_by_rank = {8, 71};
  return scattered_grid(gemm, {call, Travels::input, 2}, two_h100().cluster.gpu, nullptr);
}

TEST(ScatteredGrid, of_what_comes_has_own_rows_first) {
  const PeerGrid made = dispatched();
  ASSERT_TRUE(made.grid && made.grid->scattered);
  const ScatteredTiles& tiles = *made.grid->scattered;
  EXPECT_EQ(tiles.input_row, kRow);
  EXPECT_EQ(tiles.input_made_from, kRow);
  EXPECT_EQ(tiles.rows[0], (std::vector<ScatteredTiles::Row>{{3, 5}}));
  const std::int64_t tile_m = made.grid->result_bytes / tiles.width / 2;
  EXPECT_EQ(tiles.rows[1].front(),
            (ScatteredTiles::Row{std::min<std::int64_t>(70, tile_m - 1), 1}));
  EXPECT_EQ(tiles.rows_of_a_piece(kibibytes(64)), 8);  // of 8 KiB in 64 KiB
}

// The product and its exchange: before it, or after it.
ModelGraph pair(Travels travels) {
  ModelGraph graph;
  const PlaceId place = graph.add_place({.groups = {{0, 1}}});
  ModelOp gemm;
  gemm.name = "experts";
  gemm.shape = product();
  if (travels == Travels::input) {
    auto& shape = std::get<GemmShape>(gemm.shape);
    shape.n = shape.k;
    shape.k = kHidden;
    shape.m_by_rank = {8, 71};
  }
  gemm.place = place;
  ModelOp call;
  call.name = "exchange";
  call.shape = combine();
  call.place = place;
  const bool before = travels == Travels::input;
  const OpId first = graph.add(before ? call : gemm);
  ModelOp second = before ? gemm : call;
  second.after = {first};
  graph.add(second);
  return graph;
}

// What its messages carry besides flags, and that it ends.
struct Outcome {
  std::int64_t payload = 0;
  Duration time;
};
Outcome outcome(const ModelGraph& graph, Mode mode) {
  const Scenario scenario = two_h100();
  const Cluster cluster = build_cluster(scenario.cluster);
  const std::vector<Fusion> fusions = find_fusions(graph, scenario.cluster.gpu);
  EXPECT_EQ(fusions.size(), 1U);
  EXPECT_EQ(fusions.at(0).obstacle, "");
  EXPECT_TRUE(fusions.at(0).scatters);
  const TaskGraph tasks =
      lower_model(graph, {.options = overlap_options(scenario),
                          .cluster = cluster,
                          .mode = mode,
                          .fusions = mode == Mode::bulk ? std::vector<Fusion>{} : fusions});
  Outcome outcome;
  for (const Send& send : tasks.sends) outcome.payload += send.size == kFlagBytes ? 0 : send.size;
  const RunResult result = simulate(cluster, tasks, scenario.run);
  EXPECT_EQ(result.ending, Ending::finished);
  EXPECT_TRUE(result.ledger.balanced());
  outcome.time = result.time;
  return outcome;
}

TEST(ScatteredGrid, is_fused_and_sends_each_row_once) {
  for (const Travels travels : {Travels::result, Travels::input}) {
    const ModelGraph graph = pair(travels);
    for (const Mode mode : {Mode::fused, Mode::role_split}) {
      EXPECT_EQ(outcome(graph, mode).payload, 75 * kRow);
    }
    // Both read the expert's weights, 117 MB; the start-up of the exchange is what fusing saves.
    EXPECT_LT(outcome(graph, Mode::fused).time, outcome(graph, Mode::bulk).time);
  }
}

}  // namespace
}  // namespace weft::scattered_grid_test
