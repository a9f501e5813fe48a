// Recorded kernels fused with all-to-alls of other sizes for each peer.
#include "sim/models/uneven_recorded_grid.h"

#include <gtest/gtest.h>

#include "sim/models/fusions.h"
#include "sim/models/join_ranks.h"
#include "tests/unit/models/recorded_pair.h"

namespace weft::uneven_recorded_grid_test {
namespace {

using testing::recorded;
using testing::time_of;
using testing::Trace;
using testing::two_of_four_cus;
using Rows = std::vector<ScatteredTiles::Row>;

constexpr std::int64_t kMega = 1'000'000;

// What rank 0 keeps and sends, what rank 1 sends and keeps.
const std::vector<std::int64_t> kPairs{4 * kMega, 12 * kMega, 4 * kMega, 4 * kMega};

ModelGraph with_exchange(const RecordedShape& first, const RecordedShape& second,
                         const std::vector<std::int64_t>& pair_bytes = kPairs) {
  Trace trace;
  const OpId a = trace.kernel(0, first);
  const OpId b = trace.kernel(1, second);
  trace.uneven_call({a, b}, pair_bytes);
  return join_ranks(trace.graph);
}

PeerGrid grid_of(const ModelGraph& joined) {
  const std::vector<Fusion> found = find_fusions(joined, two_of_four_cus().cluster.gpu);
  return peer_shape(fused_operator(joined, found.at(0)), peer_call(joined, found[0]),
                    two_of_four_cus().cluster.gpu);
}

std::string obstacle_of(const ModelGraph& joined) {
  const std::vector<Fusion> found = find_fusions(joined, two_of_four_cus().cluster.gpu);
  return found.empty() ? "none" : found[0].obstacle;
}

TEST(UnevenRecorded, kernels_of_one_name_are_joined_though_their_grids_differ) {
  const ModelGraph joined =
      with_exchange(recorded(microseconds(20), 8), recorded(microseconds(10), 4));
  ASSERT_EQ(joined.ops.size(), 2U);
  const auto& kernel = std::get<RecordedShape>(joined.ops[OpId(0)].shape);
  EXPECT_EQ(kernel.time, microseconds(20));
  EXPECT_EQ(kernel.wgs, 8);
  EXPECT_EQ(kernel.by_rank[1].wgs, 4);
  EXPECT_EQ(kernel.by_rank[1].time, microseconds(10));
}

// 16 MB by 8 WGs, 8 MB by 4: 2 MB each, those for the peer first.
TEST(UnevenRecorded, each_wg_makes_an_equal_part_of_what_its_rank_sends) {
  const PeerGrid made =
      grid_of(with_exchange(recorded(microseconds(20), 8), recorded(microseconds(10), 4)));
  ASSERT_TRUE(made.grid && made.grid->scattered) << made.obstacle;
  const ScatteredTiles& tiles = *made.grid->scattered;
  Rows first(6, {0, 2 * kMega});
  first.resize(8, {2 * kMega, 0});
  EXPECT_EQ(tiles.rows[0], first);
  EXPECT_EQ(tiles.rows[1], (Rows{{2 * kMega, 0}, {2 * kMega, 0}, {0, 2 * kMega}, {0, 2 * kMega}}));
}

TEST(UnevenRecorded, a_part_may_have_bytes_for_two) {
  const PeerGrid made =
      grid_of(with_exchange(recorded(microseconds(20), 2), recorded(microseconds(10), 2)));
  ASSERT_TRUE(made.grid && made.grid->scattered) << made.obstacle;
  EXPECT_EQ(made.grid->scattered->rows[0], (Rows{{0, 8 * kMega}, {4 * kMega, 4 * kMega}}));
}

// Bulk: 20 us, then 12 MB at 100 GB/s. Fused, 8 WGs on 4 CUs are two rounds of 10 us: the link is
// busy from the end of the first, 10 + 120 us.
TEST(UnevenRecorded, sends_what_the_first_round_has_made) {
  const ModelGraph joined =
      with_exchange(recorded(microseconds(20), 8), recorded(microseconds(10), 4));
  EXPECT_EQ(obstacle_of(joined), "");
  EXPECT_NEAR(to_microseconds(time_of(joined, Mode::bulk)), 20 + 120, 0.1);
  EXPECT_NEAR(to_microseconds(time_of(joined, Mode::fused)), 10 + 120, 0.1);
}

// 8 MB to each, said one by one: 10 + 80 us, as of an even one.
TEST(UnevenRecorded, of_equal_sizes_is_as_long_as_an_even_one) {
  const RecordedShape kernel = recorded(microseconds(20), 8);
  Trace even;
  const OpId a = even.kernel(0, kernel);
  const OpId b = even.kernel(1, kernel);
  even.call({a, b});
  const std::int64_t each = 8 * kMega;
  const Duration said =
      time_of(with_exchange(kernel, kernel, {each, each, each, each}), Mode::fused);
  EXPECT_NEAR(to_microseconds(said), 10 + 80, 0.1);
  EXPECT_NEAR(to_microseconds(time_of(join_ranks(even.graph), Mode::fused)), 10 + 80, 0.1);
}

TEST(UnevenRecorded, a_rank_that_sends_nothing_still_runs_its_kernel) {
  const ModelGraph joined =
      with_exchange(recorded(microseconds(20), 8), recorded(microseconds(30), 4), {0, 8'000, 0, 0});
  EXPECT_EQ(obstacle_of(joined), "");
  EXPECT_NEAR(to_microseconds(time_of(joined, Mode::fused)), 30, 0.2);
}

RecordedShape making(std::int64_t size, std::int64_t wgs) {
  RecordedShape shape = recorded(microseconds(20), wgs);
  shape.work = RecordedWork{.written = bytes(size)};
  return shape;
}

TEST(UnevenRecorded, what_is_sent_must_be_what_was_made) {
  EXPECT_EQ(obstacle_of(with_exchange(making(16 * kMega, 8), making(8 * kMega, 4))), "");
  EXPECT_EQ(obstacle_of(with_exchange(making(16 * kMega, 8), making(9 * kMega, 4))),
            "rank 1 of the group sends 8000000 B and the kernel makes 9000000 B there: it would "
            "have to send its own result");
}

// A of m x 256, C of m x 512, both of 2 B: rows of 512 and 1,024 B.
RecordedShape product_of(std::int64_t m) {
  RecordedShape shape = recorded(microseconds(20), 4);
  shape.work =
      RecordedWork{.kind = RecordedKind::gemm,
                   .flops = flops(2 * m * 512 * 256),
                   .written = bytes(m * 512 * 2),
                   .matrix = true,
                   .gemm = RecordedGemm{.m = m, .n = 512, .k = 256, .tile_m = 128, .tile_n = 256}};
  return shape;
}

// 300 rows of rank 0, 200 for its peer: three tiles of 128 rows, the second for both; 100 of rank
// 1, 60 for rank 0.
TEST(UnevenRecorded, a_gemm_is_cut_into_rows_of_tiles) {
  const PeerGrid made =
      grid_of(with_exchange(product_of(300), product_of(100), {102'400, 204'800, 61'440, 40'960}));
  ASSERT_TRUE(made.grid && made.grid->scattered) << made.obstacle;
  const ScatteredTiles& tiles = *made.grid->scattered;
  EXPECT_EQ(tiles.columns, 2U);
  EXPECT_EQ(tiles.rows[0], (Rows{{0, 128}, {56, 72}, {44, 0}}));
  EXPECT_EQ(tiles.rows[1], (Rows{{60, 40}}));
}

TEST(UnevenRecorded, a_gemm_of_other_rows_than_are_sent_is_refused) {
  EXPECT_EQ(obstacle_of(with_exchange(product_of(300), product_of(128),
                                      {102'400, 204'800, 61'440, 40'960})),
            "rank 1 of the group sends 102400 B, and the GEMM there makes 128 rows of 1024 B");
}

// 300 rows come to rank 0, 100 of them its own, and 100 to rank 1, 40 of them its own.
TEST(UnevenRecorded, a_gemm_starts_on_its_own_rows) {
  Trace trace;
  const OpId call = trace.uneven_call({}, {51'200, 30'720, 102'400, 20'480});
  trace.kernel(0, product_of(300), {call}, "large");
  trace.kernel(1, product_of(100), {call}, "small");
  const ModelGraph joined = join_ranks(trace.graph);
  ASSERT_EQ(joined.ops.size(), 2U);
  const PeerGrid made = grid_of(joined);
  ASSERT_TRUE(made.grid && made.grid->scattered) << made.obstacle;
  EXPECT_EQ(made.grid->scattered->rows[0], (Rows{{100, 28}, {0, 128}, {0, 44}}));
  EXPECT_EQ(made.grid->scattered->rows[1], (Rows{{60, 40}}));
  EXPECT_EQ(made.grid->scattered->input_row, 512);
}

}  // namespace
}  // namespace weft::uneven_recorded_grid_test
