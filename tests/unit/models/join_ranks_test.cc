// Recorded kernels of the ranks in front of their collective: one operator, which can be fused.
#include "sim/models/join_ranks.h"

#include <gtest/gtest.h>

#include "sim/models/fusions.h"
#include "sim/models/recorded_grid.h"
#include "sim/models/run_model.h"
#include "tests/unit/models/recorded_pair.h"

namespace weft::join_ranks_test {
namespace {

using testing::recorded;
using testing::time_of;
using testing::Trace;
using testing::two_of_four_cus;

TEST(JoinRanks, kernels_before_their_collective_become_one_that_knows_each_ranks_time) {
  Trace trace;
  const OpId a = trace.kernel(0, recorded(microseconds(3)));
  const OpId b = trace.kernel(1, recorded(microseconds(5)));
  trace.call({a, b});
  const ModelGraph joined = join_ranks(trace.graph);
  ASSERT_EQ(joined.ops.size(), 2U);
  const auto& kernel = std::get<RecordedShape>(joined.ops[OpId(0)].shape);
  EXPECT_EQ(kernel.time, microseconds(5));
  EXPECT_EQ(kernel.by_rank, (std::vector<RecordedOfRank>{{.time = microseconds(3), .wgs = 8},
                                                         {.time = microseconds(5), .wgs = 8}}));
  EXPECT_EQ(joined.ops[OpId(1)].after, (std::vector<OpId>{OpId(0)}));
  EXPECT_EQ(time_of(joined, Mode::bulk), time_of(trace.graph, Mode::bulk));
}

TEST(JoinRanks, what_a_rank_did_before_is_waited_for_by_it_alone) {
  Trace trace;
  const OpId first =
      trace.add("copy", "copy", recorded(microseconds(7), 1), trace.of_rank[0], {}, 2);
  const OpId a = trace.kernel(0, recorded(microseconds(3)), {first});
  const OpId b = trace.kernel(1, recorded(microseconds(3)));
  trace.call({a, b});
  const ModelGraph joined = join_ranks(trace.graph);
  ASSERT_EQ(joined.ops.size(), 3U);
  EXPECT_EQ(joined.ops[OpId(1)].after, (std::vector<OpId>{OpId(0)}));
  EXPECT_EQ(time_of(joined, Mode::bulk), time_of(trace.graph, Mode::bulk));
}

TEST(JoinRanks, kernels_that_differ_or_are_waited_for_stay_apart) {
  Trace names;
  names.call({names.kernel(0, recorded(microseconds(3))),
              names.kernel(1, recorded(microseconds(3)), {}, "other")});
  EXPECT_EQ(join_ranks(names.graph).ops.size(), 3U);

  Trace grids;
  grids.call({grids.kernel(0, recorded(microseconds(3), 8)),
              grids.kernel(1, recorded(microseconds(3), 16))});
  EXPECT_EQ(join_ranks(grids.graph).ops.size(), 3U);

  Trace waited;
  const OpId a = waited.kernel(0, recorded(microseconds(3)));
  const OpId b = waited.kernel(1, recorded(microseconds(3)));
  waited.add("copy", "copy", recorded(microseconds(1), 1), waited.of_rank[1], {b}, 2);
  waited.call({a, b});
  EXPECT_EQ(join_ranks(waited.graph).ops.size(), 4U);
}

TEST(JoinRanks, a_kernel_does_not_move_past_the_next_of_its_stream) {
  Trace trace;
  const OpId a = trace.kernel(0, recorded(microseconds(3)));
  trace.kernel(0, recorded(microseconds(9), 1), {}, "next");
  const OpId b = trace.kernel(1, recorded(microseconds(3)));
  trace.call({a, b});
  EXPECT_EQ(join_ranks(trace.graph).ops.size(), 4U);
}

TEST(JoinRanks, kernels_of_different_blocks_stay_apart) {
  Trace trace;
  trace.begin_block("of rank 0");
  const OpId a = trace.kernel(0, recorded(microseconds(3)));
  trace.begin_block("of rank 1");
  const OpId b = trace.kernel(1, recorded(microseconds(3)));
  trace.call({a, b});
  EXPECT_EQ(join_ranks(trace.graph).ops.size(), 3U);
}

// 8 WGs on 4 CUs: two rounds of 10 us. The first makes what the peer gets, 8 MB, which takes 80 us
// on the link while the second round runs.
TEST(RecordedFusion, sends_what_the_first_round_has_made) {
  Trace trace;
  const OpId a = trace.kernel(0, recorded(microseconds(20)));
  const OpId b = trace.kernel(1, recorded(microseconds(20)));
  trace.call({a, b});
  const ModelGraph joined = join_ranks(trace.graph);
  const std::vector<Fusion> found = find_fusions(joined, two_of_four_cus().cluster.gpu);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].obstacle, "");
  EXPECT_EQ(found[0].pattern, WorkloadKind::gemm_all_to_all);
  EXPECT_NEAR(to_microseconds(time_of(joined, Mode::bulk)), 20 + 80, 0.1);
  EXPECT_NEAR(to_microseconds(time_of(joined, Mode::fused)), 10 + 80, 0.1);
}

std::string obstacle_of(std::int64_t wgs, std::int64_t size) {
  Trace trace;
  trace.call({trace.kernel(0, recorded(microseconds(20), wgs)),
              trace.kernel(1, recorded(microseconds(20), wgs))},
             size);
  const std::vector<Fusion> found =
      find_fusions(join_ranks(trace.graph), two_of_four_cus().cluster.gpu);
  return found.empty() ? "none" : found[0].obstacle;
}

TEST(RecordedFusion, needs_wgs_that_share_evenly) {
  EXPECT_EQ(obstacle_of(7, 16'000'000),
            "its 7 WGs do not divide among 2 GPUs; what a WG makes was not recorded (PyTorch: "
            "record_shapes=True)");
  EXPECT_EQ(obstacle_of(6, 16'000'000),
            "16000000 B do not divide among its 6 WGs; what a WG makes was not recorded (PyTorch: "
            "record_shapes=True)");
  EXPECT_EQ(obstacle_of(1, 16'000'000), "none") << "no grid was recorded";
}

// C of 1024 x 512 in 8 x 2 tiles of 128 x 256, 64 KiB each, by a persistent grid of 4 WGs: four
// rounds.
RecordedShape product_of(Duration time, std::int64_t m = 1024, std::int64_t n = 512) {
  RecordedShape shape = recorded(time, 4);
  shape.work =
      RecordedWork{.kind = RecordedKind::gemm,
                   .flops = flops(2 * m * n * 256),
                   .written = bytes(m * n * 2),
                   .matrix = true,
                   .gemm = RecordedGemm{.m = m, .n = n, .k = 256, .tile_m = 128, .tile_n = 256}};
  return shape;
}

RecordedShape passing_on(Duration time, std::int64_t elements) {
  RecordedShape shape = recorded(time, 64);
  shape.work = RecordedWork{.kind = RecordedKind::copy, .written = bytes(elements * 2)};
  return shape;
}

constexpr std::int64_t kProduct = 1024 * 512 * 2;  // bytes

// 512 KiB for the peer take 5.24 us on the link. Fused, the first two rounds are the peer's. A WG
// waits until what it stored has arrived: the last of four tiles of the first round for 4 x 0.655
// us, in the second only for its own. Then two rounds for itself: 5 + 2.62 + 5 + 0.655 + 10.
TEST(RecordedFusion, of_a_gemm_is_by_the_tiles_of_its_kernel) {
  Trace trace;
  const OpId a = trace.kernel(0, product_of(microseconds(20)));
  const OpId b = trace.kernel(1, product_of(microseconds(20)));
  trace.call({a, b}, kProduct);
  const ModelGraph joined = join_ranks(trace.graph);
  const std::vector<Fusion> found = find_fusions(joined, two_of_four_cus().cluster.gpu);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].obstacle, "");
  EXPECT_NEAR(to_microseconds(time_of(joined, Mode::bulk)), 20 + 5.24, 0.1);
  EXPECT_NEAR(to_microseconds(time_of(joined, Mode::fused)), 23.28, 0.1);
}

std::string tiles_obstacle(std::int64_t m, std::int64_t n, std::int64_t size) {
  Trace trace;
  trace.call({trace.kernel(0, product_of(microseconds(20), m, n)),
              trace.kernel(1, product_of(microseconds(20), m, n))},
             size);
  const std::vector<Fusion> found =
      find_fusions(join_ranks(trace.graph), two_of_four_cus().cluster.gpu);
  return found.empty() ? "none" : found[0].obstacle;
}

TEST(RecordedFusion, says_what_would_have_to_change) {
  EXPECT_EQ(tiles_obstacle(1024, 512, kProduct), "");
  EXPECT_EQ(tiles_obstacle(1100, 512, 1100 * 1024),
            "its 1100 rows do not divide among 2 GPUs in tiles of 128 x 256; 1024 or 1280 would");
  EXPECT_EQ(tiles_obstacle(1024, 500, 1024 * 1000),
            "its 500 columns are no whole tiles of 128 x 256; 256 or 512 would be");
  EXPECT_EQ(tiles_obstacle(1024, 512, 1000),
            "the collective moves 1000 B and the kernel has 1048576 B for it");
}

// 768 columns are three tiles of 256, 640 four of 160; 1120 rows ten of 112 (of 128), five a GPU.
TEST(RecordedFusion, of_a_gemm_has_smaller_tiles_where_the_recorded_ones_do_not_divide) {
  const auto wgs_of_a_peer = [](std::int64_t m, std::int64_t n) {
    CommunicationShape call;
    call.op = CollectiveOp::reduce_scatter;
    call.buffer = bytes(m * n * 2);
    const PeerGrid made =
        recorded_peer_grid(product_of(microseconds(20), m, n), {call, Travels::result, 2},
                           two_of_four_cus().cluster.gpu, {});
    return made.grid ? made.grid->per_peer : 0;
  };
  EXPECT_EQ(wgs_of_a_peer(1024, 768), 4U * 3);
  EXPECT_EQ(wgs_of_a_peer(1024, 640), 4U * 4);
  EXPECT_EQ(wgs_of_a_peer(1120, 512), 5U * 2);
}

// Bulk: 20 us, 4 us, 5.24 us. Fused, all 24 us are the tiles': 3.28 us more, as above.
TEST(RecordedFusion, goes_through_a_kernel_that_passes_the_result_on) {
  Trace trace;
  trace.kernel(0, product_of(microseconds(20)), {}, "gemm");
  trace.kernel(1, product_of(microseconds(20)), {}, "gemm");
  const OpId a = trace.kernel(0, passing_on(microseconds(4), 1024 * 512), {}, "cast");
  const OpId b = trace.kernel(1, passing_on(microseconds(4), 1024 * 512), {}, "cast");
  trace.call({a, b}, kProduct);
  const ModelGraph joined = join_ranks(trace.graph);
  ASSERT_EQ(joined.ops.size(), 3U);
  const std::vector<Fusion> found = find_fusions(joined, two_of_four_cus().cluster.gpu);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].obstacle, "");
  EXPECT_EQ(found[0].first, OpId(0));
  EXPECT_EQ(found[0].through, OpId(1));
  EXPECT_EQ(found[0].second, OpId(2));
  EXPECT_NEAR(to_microseconds(time_of(joined, Mode::bulk)), 20 + 4 + 5.24, 0.1);
  EXPECT_NEAR(to_microseconds(time_of(joined, Mode::fused)), 24 + 3.28, 0.1);
}

TEST(RecordedFusion, a_kernel_of_another_size_passes_nothing_on) {
  Trace trace;
  trace.kernel(0, product_of(microseconds(20), 2048), {}, "gemm");
  trace.kernel(1, product_of(microseconds(20), 2048), {}, "gemm");
  const OpId a = trace.kernel(0, passing_on(microseconds(4), 1024 * 512), {}, "cast");
  const OpId b = trace.kernel(1, passing_on(microseconds(4), 1024 * 512), {}, "cast");
  trace.call({a, b}, kProduct);
  const std::vector<Fusion> found =
      find_fusions(join_ranks(trace.graph), two_of_four_cus().cluster.gpu);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].through.is_none());
}

// Rows of A, 1024 x 256 of 2 B: half of them come from the peer, 262,144 B in 2.62 us. Fused, own
// rows are multiplied while the peer's come; WGs are held up by their stores, at most for as long.
TEST(RecordedFusion, of_what_is_gathered_with_the_gemm_that_waits_for_it) {
  Trace trace;
  CommunicationShape gather;
  gather.op = CollectiveOp::all_gather;
  gather.buffer = bytes(1024 * 256 * 2);
  const OpId call = trace.add("gather", "all_gather", gather, trace.both, {}, 1);
  trace.kernel(0, product_of(microseconds(20)), {call}, "gemm");
  trace.kernel(1, product_of(microseconds(20)), {call}, "gemm");
  const ModelGraph joined = join_ranks(trace.graph);
  ASSERT_EQ(joined.ops.size(), 2U);
  const std::vector<Fusion> found = find_fusions(joined, two_of_four_cus().cluster.gpu);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].pattern, WorkloadKind::all_gather_gemm);
  EXPECT_EQ(found[0].obstacle, "");
  EXPECT_NEAR(to_microseconds(time_of(joined, Mode::bulk)), 2.62 + 20, 0.1);
  EXPECT_GE(to_microseconds(time_of(joined, Mode::fused)), 20);
  EXPECT_LT(to_microseconds(time_of(joined, Mode::fused)), 20 + 2.62);
}

// A kernel of 4 us on what was gathered, as many numbers as the GEMM's first matrix has: fused, all
// 24 us are the tiles'. With another number the GEMM is not what waits for the rows.
TEST(RecordedFusion, goes_through_a_kernel_that_brings_what_was_gathered) {
  const auto graph_with = [](std::int64_t numbers) {
    Trace trace;
    CommunicationShape gather;
    gather.op = CollectiveOp::all_gather;
    gather.buffer = bytes(1024 * 256 * 2);
    const OpId call = trace.add("gather", "all_gather", gather, trace.both, {}, 1);
    trace.kernel(0, passing_on(microseconds(4), numbers), {call}, "scale");
    trace.kernel(1, passing_on(microseconds(4), numbers), {call}, "scale");
    trace.kernel(0, product_of(microseconds(20)), {}, "gemm");
    trace.kernel(1, product_of(microseconds(20)), {}, "gemm");
    return join_ranks(trace.graph);
  };
  const ModelGraph joined = graph_with(1024 * 256);
  ASSERT_EQ(joined.ops.size(), 3U);
  const std::vector<Fusion> found = find_fusions(joined, two_of_four_cus().cluster.gpu);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].pattern, WorkloadKind::all_gather_gemm);
  EXPECT_EQ(found[0].obstacle, "");
  EXPECT_EQ(joined.ops[found[0].through].name, "scale");
  EXPECT_EQ(joined.ops[found[0].second].name, "gemm");
  EXPECT_NEAR(to_microseconds(time_of(joined, Mode::bulk)), 2.62 + 4 + 20, 0.1);
  EXPECT_GE(to_microseconds(time_of(joined, Mode::fused)), 24);
  EXPECT_LT(to_microseconds(time_of(joined, Mode::fused)), 24 + 2.62);
  for (const Fusion& other : find_fusions(graph_with(1024 * 128), two_of_four_cus().cluster.gpu)) {
    EXPECT_TRUE(other.through.is_none());
  }
}

// Two layers, 20 and 22 us: one row, by itself of the mean.
TEST(RecordedFusion, pairs_that_differ_in_time_only_are_one_candidate) {
  Trace trace;
  std::vector<OpId> after;
  for (const int us : {20, 22}) {
    const OpId a = trace.kernel(0, product_of(microseconds(us)), after);
    const OpId b = trace.kernel(1, product_of(microseconds(us)), after);
    after = {trace.call({a, b}, kProduct)};
  }
  const ModelGraph joined = join_ranks(trace.graph);
  const Scenario scenario = two_of_four_cus();
  const Cluster cluster = build_cluster(scenario.cluster);
  ModelRun model(scenario, cluster, joined);
  const std::vector<Candidate> candidates = model.candidates();
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_EQ(candidates[0].times, 2);
  EXPECT_NEAR(to_microseconds(candidates[0].bulk), 21 + 5.24, 0.1);
}

}  // namespace
}  // namespace weft::join_ranks_test
