// Experts whose tokens came from all GPUs in uneven numbers: tiles, and what the fused kernel
// sends.
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

TEST(ScatteredGrid, cuts_each_experts_rows_into_tiles_by_owner) {
  const PeerGrid made = scattered_grid(product(), combine(), two_h100().cluster.gpu, 2, nullptr);
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
  const PeerGrid made = scattered_grid(product(2), combine(), two_h100().cluster.gpu, 2, nullptr);
  const ScatteredTiles& tiles = *made.grid->scattered;
  // Of 5 and 1 rows: 2 and 0 to the first expert, 3 and 1 to the second. 3 and 70: 1, 35; 2, 35.
  EXPECT_EQ(tiles.rows[1], (std::vector<ScatteredTiles::Row>{{2, 0}, {3, 1}}));
  EXPECT_EQ(tiles.rows[0].front()[0], 1);
}

ModelGraph pair() {
  ModelGraph graph;
  const PlaceId place = graph.add_place({.groups = {{0, 1}}});
  ModelOp gemm;
  gemm.name = "experts_down";
  gemm.shape = product();
  gemm.place = place;
  const OpId producer = graph.add(gemm);
  ModelOp call;
  call.name = "combine";
  call.shape = combine();
  call.place = place;
  call.after = {producer};
  graph.add(call);
  return graph;
}

TEST(ScatteredGrid, is_fused_and_sends_each_row_home) {
  const Scenario scenario = two_h100();
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = pair();
  const std::vector<Fusion> fusions = find_fusions(graph, scenario.cluster.gpu);
  ASSERT_EQ(fusions.size(), 1U);
  EXPECT_EQ(fusions[0].obstacle, "");
  EXPECT_TRUE(fusions[0].scatters);
  const auto result = [&](Mode mode, const std::vector<Fusion>& fused) {
    const TaskGraph tasks = lower_model(
        graph,
        {.options = overlap_options(scenario), .cluster = cluster, .mode = mode, .fusions = fused});
    std::int64_t payload = 0;
    for (const Send& send : tasks.sends) payload += send.size == kFlagBytes ? 0 : send.size;
    EXPECT_EQ(mode == Mode::fused ? payload : 75 * kRow, 75 * kRow);
    return simulate(cluster, tasks, scenario.run);
  };
  const RunResult fused = result(Mode::fused, fusions);
  EXPECT_EQ(fused.ending, Ending::finished);
  EXPECT_TRUE(fused.ledger.balanced());
  // Both read the expert's weights, 117 MB; the start-up of the exchange is what fusing saves.
  EXPECT_LT(fused.time, result(Mode::bulk, {}).time);
}

}  // namespace
}  // namespace weft::scattered_grid_test
