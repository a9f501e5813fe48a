#include "sim/measured/cases.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::cases_test {
namespace {

MeasuredLine line(const std::string& kind, std::map<std::string, std::int64_t> numbers) {
  MeasuredLine one;
  one.kind = kind;
  one.us = 1;
  one.numbers = std::move(numbers);
  return one;
}

GpuSpec gpu() {
  GpuSpec spec;
  spec.cus = 132;
  spec.l2.capacity = mebibytes(60);
  return spec;
}

bool sets(const Case& one, const std::string& assignment) {
  return std::count(one.sets.begin(), one.sets.end(), assignment) == 1;
}

Case case_without_problems(const MeasuredLine& one) {
  Diagnostics problems;
  Case made = case_of(one, gpu(), problems);
  EXPECT_FALSE(problems.has_errors()) << problems.to_text();
  return made;
}

const std::map<std::string, std::int64_t> kBags = {
    {"gpus", 4},     {"batch", 2048},           {"tables", 32},      {"dim", 256},
    {"pooling", 16}, {"rows_per_table", 20000}, {"rows_per_wg", 32}, {"dtype_bytes", 4}};

TEST(MeasuredCases, the_numbers_of_a_line_are_keys_of_its_scenario) {
  const Case one = case_without_problems(line("emb.bulk", kBags));
  EXPECT_EQ(one.scenario, "validation/emb");
  EXPECT_EQ(one.mode, Mode::bulk);
  EXPECT_EQ(one.until, Until::all_done);
  EXPECT_TRUE(sets(one, "cluster.gpus_per_node=4"));
  EXPECT_TRUE(sets(one, "workload.tables_per_gpu=32"));
  EXPECT_TRUE(sets(one, "workload.pooling=16"));
}

TEST(MeasuredCases, gemms_with_wide_tiles_are_another_kernel) {
  std::map<std::string, std::int64_t> gemm = {{"gpus", 2}, {"m", 4096},     {"n", 4096},
                                              {"k", 1024}, {"tile_m", 128}, {"tile_n", 128},
                                              {"wgs", 264}};
  const Case by_rows = case_without_problems(line("gemm.fused", gemm));
  EXPECT_EQ(by_rows.scenario, "validation/gemm");
  EXPECT_FALSE(sets(by_rows, "workload.gemm.order=swizzled"));
  gemm["group_rows"] = 8;
  EXPECT_TRUE(sets(case_without_problems(line("gemm.fused", gemm)), "workload.gemm.swizzle=8"));
  gemm["tile_n"] = 256;
  EXPECT_EQ(case_without_problems(line("gemm_rs.fused", gemm)).scenario, "validation/hip_gemm_rs");
  const Case in_turn = case_without_problems(line("gemm.fused_in_turn", gemm));
  EXPECT_EQ(in_turn.scenario, "validation/hip_gemm");
  EXPECT_TRUE(sets(in_turn, "fused.order=in_turn"));
}

TEST(MeasuredCases, computing_alone_is_bulk_until_it_has_computed) {
  const Case one = case_without_problems(line("emb.compute", kBags));
  EXPECT_EQ(one.mode, Mode::bulk);
  EXPECT_EQ(one.until, Until::computed);
}

TEST(MeasuredCases, a_collective_may_be_held_to_channels) {
  const std::map<std::string, std::int64_t> numbers = {{"gpus", 2}, {"bytes_per_gpu", 1 << 20}};
  std::map<std::string, std::int64_t> held = numbers;
  held["ctas"] = 4;
  EXPECT_FALSE(
      sets(case_without_problems(line("micro.nccl_allgather", numbers)), "collective.channels=4"));
  EXPECT_TRUE(
      sets(case_without_problems(line("micro.nccl_allgather", held)), "collective.channels=4"));
}

// 2048 samples x 32 tables x 256 elements x 4 B = 64 MiB of each GPU.
TEST(MeasuredCases, communication_alone_is_the_collective_of_that_many_bytes) {
  const Case one = case_without_problems(line("emb.comm", kBags));
  EXPECT_EQ(one.scenario, "validation/collective");
  EXPECT_TRUE(sets(one, "workload.op=all_to_all"));
  EXPECT_TRUE(sets(one, "workload.bytes=67108864 B"));
}

// 792 WGs on 132 CUs are 6 a CU, 64 are one.
TEST(MeasuredCases, a_persistent_kernel_has_the_residents_that_it_was_launched_with) {
  std::map<std::string, std::int64_t> numbers = kBags;
  numbers["wgs"] = 792;
  EXPECT_TRUE(sets(case_without_problems(line("emb.fused", numbers)), "fused.max_wgs_per_cu=6"));
  numbers["wgs"] = 64;
  EXPECT_TRUE(sets(case_without_problems(line("emb.fused", numbers)), "fused.max_wgs_per_cu=1"));
}

// 8192 x 3072 x 2 B = 48 MiB are 0.8 of 60 MiB; 8 columns more are too many.
TEST(MeasuredCases, weights_that_stay_are_in_l2_from_the_repeat_before) {
  std::map<std::string, std::int64_t> numbers = {{"gpus", 4},         {"m", 8192},
                                                 {"k_local", 3072},   {"rows_per_wg", 32},
                                                 {"weight_bytes", 2}, {"out_bytes", 4}};
  EXPECT_TRUE(
      sets(case_without_problems(line("gemv.bulk", numbers)), "workload.gemv.weights=in_l2"));
  numbers["k_local"] = 3080;
  EXPECT_TRUE(
      sets(case_without_problems(line("gemv.bulk", numbers)), "workload.gemv.weights=in_hbm"));
}

TEST(MeasuredCases, a_number_that_is_missing_is_a_problem_of_that_line) {
  std::map<std::string, std::int64_t> numbers = kBags;
  numbers.erase("dim");
  numbers["pooling"] = 0;
  Diagnostics problems;
  case_of(line("emb.bulk", numbers), gpu(), problems);
  EXPECT_EQ(problems.all().size(), 2U) << problems.to_text();
}

TEST(MeasuredCases, a_fused_line_is_compared_with_the_bulk_one_of_the_same_case) {
  std::map<std::string, std::int64_t> fused = kBags;
  fused["wgs"] = 792;
  EXPECT_EQ(bulk_kind_of("emb.fused_low_occ"), "emb.bulk");
  EXPECT_EQ(bulk_kind_of("emb.compute"), "");
  EXPECT_EQ(compared_text(line("emb.fused", fused)), compared_text(line("emb.bulk", kBags)));
  MeasuredLine by_wgmma = line("emb.fused", fused);
  by_wgmma.words["tile"] = "wgmma";
  EXPECT_EQ(compared_text(by_wgmma), compared_text(line("emb.bulk", kBags)));
}

TEST(MeasuredCases, kinds_without_a_simulation_are_known_as_such) {
  EXPECT_TRUE(has_case("micro.nccl_allreduce"));
  EXPECT_FALSE(has_case("micro.hbm_read"));
}

}  // namespace
}  // namespace weft::cases_test
