// MFU, tokens and bandwidths, by hand.
#include "sim/report/rates.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/report/summary.h"
#include "sim/report/table.h"
#include "tests/unit/report/made_up_results.h"

namespace weft::rates_test {
namespace {

using Json = nlohmann::ordered_json;

Rates of_first(const RunReport& report) { return rates(report, report.runs.front().result); }

Json bulk_of(const RunReport& report) { return Json::parse(summary_json(report))["modes"]["bulk"]; }

// Two GPUs of 100 TFLOP/s in 100 ms: 20 TFLOP.
TEST(Rates, of_training_are_shares_of_what_the_matrix_units_could_do) {
  const Rates rates = of_first(testing::trained());
  EXPECT_DOUBLE_EQ(*rates.mfu, 8 / 20.0);
  EXPECT_DOUBLE_EQ(*rates.mfu_full_attention, 9 / 20.0);
  EXPECT_DOUBLE_EQ(*rates.hfu, 10 / 20.0);
  EXPECT_DOUBLE_EQ(*rates.tflops_per_gpu, 40);
  EXPECT_DOUBLE_EQ(*rates.tokens_per_s, 4096 / 0.1);
  EXPECT_DOUBLE_EQ(*rates.tokens_per_s_per_gpu, 2048 / 0.1);
  // 10^12 tokens in 24,414,062.5 s on two GPUs.
  EXPECT_NEAR(*rates.gpu_hours_per_trillion_tokens, 24'414'062.5 * 2 / 3600, 1e-6);
  EXPECT_FALSE(rates.time_per_output_token);
  EXPECT_FALSE(rates.samples_per_s);
  EXPECT_FALSE(rates.algorithm_bandwidth);
}

// Two GPUs at 3.6 an hour for 100 ms: 2 x 3.6 / 3600 x 0.1.
TEST(Rates, have_costs_where_there_is_a_price) {
  RunReport report = testing::trained();
  EXPECT_FALSE(of_first(report).cost);
  EXPECT_FALSE(bulk_of(report).contains("cost"));
  report.scenario.run.gpu_hour_price = 3.6;
  EXPECT_DOUBLE_EQ(*of_first(report).cost, 0.0002);
  EXPECT_DOUBLE_EQ(*of_first(report).cost_per_million_tokens, 0.0002 / 4096 * 1e6);
  EXPECT_DOUBLE_EQ(bulk_of(report)["cost"], 0.0002);
}

TEST(Rates, of_decoding_have_the_time_of_a_token) {
  const Rates rates = of_first(testing::decoded());
  EXPECT_EQ(rates.time_per_output_token, microseconds(100'000));
  EXPECT_DOUBLE_EQ(*rates.tokens_per_s, 64 / 0.1);
  EXPECT_FALSE(rates.hfu);
  EXPECT_FALSE(rates.gpu_hours_per_trillion_tokens);
}

TEST(Rates, of_a_recommendation_model_are_samples) {
  const Rates rates = of_first(testing::recommended());
  EXPECT_DOUBLE_EQ(*rates.samples_per_s, 1000 / 0.1);
  EXPECT_FALSE(rates.tokens_per_s);
  EXPECT_FALSE(rates.mfu_full_attention);
}

// As nccl-tests' sources and doc/PERFORMANCE.md have them, of eight GPUs.
TEST(Rates, of_a_collective_are_nccl_tests_bandwidths) {
  const std::vector<std::pair<CollectiveOp, double>> factors = {
      {CollectiveOp::all_reduce, 14 / 8.0},
      {CollectiveOp::all_gather, 7 / 8.0},
      {CollectiveOp::reduce_scatter, 7 / 8.0},
      {CollectiveOp::all_to_all, 7 / 8.0},
      {CollectiveOp::broadcast, 1},
      {CollectiveOp::point_to_point, 1}};
  for (const auto& [op, factor] : factors) EXPECT_DOUBLE_EQ(bus_factor(op, 8), factor);
  // 200 MB in 100 ms, among two GPUs.
  const Rates rates = of_first(testing::reduced());
  EXPECT_DOUBLE_EQ(*rates.algorithm_bandwidth, 2e9);
  EXPECT_DOUBLE_EQ(*rates.bus_bandwidth, 2e9 * 2 * (2 - 1) / 2);
  EXPECT_FALSE(rates.mfu);
}

TEST(Rates, of_a_collective_go_by_the_size_of_its_groups) {
  RunReport report = testing::reduced();
  report.scenario.workload.collective.groups.gpus = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  EXPECT_DOUBLE_EQ(*of_first(report).bus_bandwidth, 2e9 * 2 * 3 / 4);
  report.scenario.workload.collective.groups.gpus = {{0, 1, 2, 3}, {4, 5}};
  EXPECT_TRUE(of_first(report).algorithm_bandwidth);
  EXPECT_FALSE(of_first(report).bus_bandwidth);
}

TEST(Rates, of_an_uneven_all_to_all_are_absent) {
  RunReport report = testing::reduced();
  report.scenario.workload.collective.matrix = {{0, 1}, {2, 0}};
  EXPECT_FALSE(of_first(report).algorithm_bandwidth);
  EXPECT_FALSE(of_first(report).bus_bandwidth);
}

TEST(Rates, are_absent_from_results_that_have_none_not_zero) {
  RunReport report = testing::two_gpus();
  testing::add_run(report, Mode::bulk, microseconds(100), {});
  for (const WorkloadKind kind : {WorkloadKind::embedding_all_to_all, WorkloadKind::chakra}) {
    report.scenario.workload.kind = kind;
    const Json bulk = bulk_of(report);
    for (const char* field : {"mfu", "hfu", "model_flops", "tflops_per_gpu", "tokens_per_s",
                              "samples_per_s", "bus_bandwidth_bytes_per_s"}) {
      EXPECT_FALSE(bulk.contains(field)) << field;
    }
  }
  EXPECT_TRUE(bulk_of(testing::trained()).contains("mfu"));
}

TEST(Rates, have_no_share_of_a_peak_that_is_not_known) {
  RunReport report = testing::trained();
  report.cluster.spec.gpu.bf16_matrix = {};
  EXPECT_FALSE(of_first(report).mfu);
  EXPECT_TRUE(of_first(report).tflops_per_gpu);
}

TEST(Rates, are_columns_where_modes_have_them) {
  const std::string trained = table(testing::trained());
  EXPECT_NE(trained.find("TFLOP/s/GPU   MFU      HFU      tokens/s   memory\n"), std::string::npos)
      << trained;
  EXPECT_NE(trained.find("40            40.0 %   50.0 %   41.0 k     60.0 GB\n"), std::string::npos)
      << trained;
  const std::string reduced = table(testing::reduced());
  EXPECT_NE(reduced.find("algbw       busbw\n"), std::string::npos) << reduced;
  EXPECT_NE(reduced.find("2.00 GB/s   2.00 GB/s\n"), std::string::npos) << reduced;
}

}  // namespace
}  // namespace weft::rates_test
