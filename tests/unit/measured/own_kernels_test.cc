// Lines of this repository's own kernels as operators of PyTorch: what they ran.
#include "sim/measured/own_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "sim/measured/cases.h"

namespace weft::own_kernels_test {
namespace {

using Numbers = std::map<std::string, std::int64_t>;

GpuSpec h100() {
  GpuSpec gpu;
  gpu.cus = 132;
  gpu.l2.capacity = mebibytes(50);
  return gpu;
}

MeasuredLine line_of(const std::string& kind, const Numbers& numbers) {
  MeasuredLine line;
  line.kind = kind;
  line.us = 1;
  for (const auto& [name, number] : numbers) line.numbers[name] = number;
  line.numbers["gpus"] = 2;
  return line;
}

Case made_of(const std::string& kind, const Numbers& numbers) {
  MeasuredLine line = line_of(kind, numbers);
  line.words["tile"] = "wgmma";
  Diagnostics problems;
  Case made = own_kernel(line, h100(), problems);
  EXPECT_FALSE(problems.has_errors()) << problems.to_text();
  return made;
}

bool sets(const Case& made, const std::string& set) {
  return std::find(made.sets.begin(), made.sets.end(), set) != made.sets.end();
}

TEST(OwnKernels, are_those_of_calibration_and_no_others) {
  EXPECT_TRUE(is_own_kernel("torch.emb.hip"));
  EXPECT_TRUE(is_own_kernel("torch.ag_gemm.triton_engine"));
  EXPECT_FALSE(is_own_kernel("torch.gemv.triton"));  // in one phase, which weft's is not
  EXPECT_FALSE(is_own_kernel("torch.gemm.bulk"));
  EXPECT_TRUE(has_case("torch.gemm_rs.triton"));
  EXPECT_EQ(bulk_kind_of("torch.gemm_rs.triton"), "torch.gemm_rs.bulk");
  EXPECT_EQ(bulk_kind_of("torch.emb.hip"), "torch.emb.hip_bulk");
  EXPECT_EQ(bulk_kind_of("torch.emb.hip_bulk"), "");
}

TEST(OwnKernels, of_embeddings_pool_as_many_rows_as_divide_a_destinations) {
  const Numbers bag{
      {"batch", 24}, {"tables", 2}, {"dim", 64}, {"pooling", 4}, {"rows_per_table", 9}};
  const Case made = made_of("torch.emb.hip", bag);
  EXPECT_EQ(made.mode, Mode::fused);
  EXPECT_TRUE(sets(made, "workload.rows_per_wg=8"));  // of 24 / 2 x 2 = 24 rows
  EXPECT_EQ(made_of("torch.emb.hip_compute", bag).until, Until::computed);
  EXPECT_EQ(made_of("torch.emb.hip_bulk", bag).mode, Mode::bulk);
}

TEST(OwnKernels, of_gemvs_find_weights_in_the_l2_that_fit_there) {
  // 2 B a weight: 32 MiB and 64 MiB, of 50.
  EXPECT_TRUE(
      sets(made_of("torch.gemv.hip", {{"m", 4096}, {"k", 4096}}), "workload.gemv.weights=in_l2"));
  EXPECT_TRUE(
      sets(made_of("torch.gemv.hip", {{"m", 8192}, {"k", 4096}}), "workload.gemv.weights=in_hbm"));
}

TEST(OwnKernels, of_triton_have_large_tiles_where_two_small_ones_take_longer) {
  // 4096 x 4096: 512 tiles of 128 x 256 are 4 rounds of 132 SMs, 1,024 of 128 x 128 are 8.
  const Case large = made_of("torch.gemm.triton", {{"m", 4096}, {"n", 4096}, {"k", 64}});
  EXPECT_FALSE(sets(large, "workload.gemm.tile_n=128"));
  // 512 x 4096: 64 tiles are one round, and 128 small ones are one too.
  const Case small = made_of("torch.gemm.triton", {{"m", 512}, {"n", 4096}, {"k", 64}});
  EXPECT_TRUE(sets(small, "workload.gemm.tile_n=128"));
  // 256 does not divide n.
  EXPECT_TRUE(sets(made_of("torch.gemm.triton", {{"m", 4096}, {"n", 384}, {"k", 64}}),
                   "workload.gemm.tile_n=128"));
  EXPECT_EQ(made_of("torch.ag_gemm.triton_engine", {{"m", 512}, {"n", 4096}, {"k", 64}}).mode,
            Mode::copy_fed);
}

TEST(OwnKernels, of_hip_have_wide_tiles_by_the_same_rule) {
  const Case wide = made_of("torch.gemm_rs.hip", {{"m", 4096}, {"n", 4096}, {"k", 64}});
  EXPECT_FALSE(sets(wide, "workload.gemm.tile_n=128"));
  const Case narrow = made_of("torch.gemm_rs.hip", {{"m", 512}, {"n", 4096}, {"k", 64}});
  EXPECT_TRUE(sets(narrow, "workload.gemm.tile_n=128"));
}

// Built for other GPUs, and before it was made by wgmma, the kernel is another one.
TEST(OwnKernels, of_hip_are_those_for_hopper) {
  Diagnostics problems;
  own_kernel(line_of("torch.gemm.hip", {{"m", 4096}, {"n", 4096}, {"k", 64}}), h100(), problems);
  EXPECT_NE(problems.to_text().find("tile: must be wgmma"), std::string::npos);
}

// 16384 x 8192 of B in bf16 are 268 MB, more than 120; 512 rows are 4 x 64 tiles on 132 SMs.
TEST(OwnKernels, of_triton_take_gpus_in_turn_where_few_rows_read_much_of_b) {
  const Numbers few{{"m", 512}, {"n", 16384}, {"k", 8192}};
  EXPECT_TRUE(sets(made_of("torch.gemm_rs.triton", few), "fused.order=in_turn"));
  EXPECT_FALSE(sets(made_of("torch.gemm.triton", few), "fused.order=in_turn"));
  EXPECT_FALSE(sets(made_of("torch.gemm_rs.triton", {{"m", 4096}, {"n", 16384}, {"k", 8192}}),
                    "fused.order=in_turn"));
  EXPECT_FALSE(sets(made_of("torch.gemm_rs.triton", {{"m", 512}, {"n", 16384}, {"k", 2048}}),
                    "fused.order=in_turn"));
}

// 4 x 112 tiles are 3.4 rounds. Of 256 rows of the other GPU: 0.2 + 6e-4 x 256 = 0.3536 rounds of
// 132, 46 tiles, are 23 columns of the 2 own rows of tiles. 2 rounds are too few.
TEST(OwnKernels, of_triton_begin_with_own_tiles_while_the_others_rows_come) {
  const Numbers few{{"m", 512}, {"n", 28672}, {"k", 8192}};
  EXPECT_TRUE(sets(made_of("torch.ag_gemm.triton", few), "fused.own_first=46"));
  EXPECT_TRUE(sets(made_of("torch.ag_gemm.triton_engine", few), "fused.own_first=46"));
  const Case two_rounds = made_of("torch.ag_gemm.triton", {{"m", 512}, {"n", 16384}, {"k", 8192}});
  for (const std::string& set : two_rounds.sets) EXPECT_FALSE(set.starts_with("fused.own_first"));
}

}  // namespace
}  // namespace weft::own_kernels_test
