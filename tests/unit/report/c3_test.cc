#include "sim/report/c3.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/engine/partition.h"
#include "sim/report/measures.h"
#include "sim/report/summary.h"
#include "sim/report/table.h"
#include "tests/unit/engine/simulated.h"

namespace weft::c3_test {
namespace {

// Agrawal et al.: base is 1.13x as fast and 21 % of ideal; ideal is then 1 + 0.13 / 0.21 = 1.62x.
TEST(C3Measures, fraction_of_ideal_is_the_gain_against_the_largest_possible_one) {
  const Isolated alone{.compute = microseconds(300), .communicate = microseconds(100)};
  EXPECT_DOUBLE_EQ(ideal_speedup(alone), 4.0 / 3);
  EXPECT_DOUBLE_EQ(speedup(alone, microseconds(400)), 1);
  EXPECT_DOUBLE_EQ(fraction_of_ideal(alone, microseconds(400)), 0);
  EXPECT_DOUBLE_EQ(fraction_of_ideal(alone, microseconds(300)), 1);
  // 400 / 350 - 1 = 1/7 of the 1/3 that is possible.
  EXPECT_DOUBLE_EQ(fraction_of_ideal(alone, microseconds(350)), 3.0 / 7);
  EXPECT_LT(fraction_of_ideal(alone, microseconds(500)), 0);
  EXPECT_GT(fraction_of_ideal(alone, microseconds(250)), 1);
}

TEST(C3Measures, within_15_percent_both_are_equal) {
  const auto balance = [](std::int64_t compute, std::int64_t communicate) {
    return std::string(
        balance_of({.compute = microseconds(compute), .communicate = microseconds(communicate)}));
  };
  EXPECT_EQ(balance(115, 100), "GC-equal");
  EXPECT_EQ(balance(116, 100), "G-long");
  EXPECT_EQ(balance(100, 115), "GC-equal");
  EXPECT_EQ(balance(100, 116), "C-long");
}

// 8 CUs of one WG; the GEMM's 16 tiles of 100 us; the all-to-all takes 4 channels 200 us, or the
// copy engine 160 (tests/unit/engine/c3_time_test.cc).
RunReport report_of(const std::vector<std::string>& sets) {
  const Scenario scenario = scenario_of(R"(
name: GEMM concurrent with an all-to-all
cluster:
  name: two GPUs
  nodes: 1
  gpus_per_node: 2
  gpu:
    base: gpus/ideal
    cus: 8
    cu: {wgs: 1}
    bf16_matrix: 8 TFLOP/s
    dma: {rate: 50 GB/s}
    collective: {channels: 4, exchange_rate: 10 GB/s, chunk: 5 kB}
  scale_up: {shape: fully_connected, link: {bandwidth: 50 GB/s, latency: 0 ns}}
workload:
  kind: c3
  gemm: {m: 400, n: 400, k: 5000, tile_m: 100, tile_n: 100, efficiency: 1}
  communication: {op: all_to_all, bytes: 16 MB}
)",
                                        sets);
  RunReport report{.scenario = scenario,
                   .cluster = build_cluster(scenario.cluster),
                   .runs = {},
                   .version = "",
                   .command = "",
                   .inputs = {}};
  for (const Mode mode : scenario.modes) {
    ModeRun run;
    run.partition = choose_partition(scenario, report.cluster, mode);
    run.result = simulate(report.cluster, lower(scenario, report.cluster, mode, run.partition.cus),
                          scenario.run);
    run.result.mode = mode;
    report.runs.push_back(run);
  }
  return report;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(C3Why, says_what_each_strategy_lost_and_names_together_those_that_came_to_the_same) {
  const std::string text = why_c3(report_of({"modes=[serial, base, comm_first, priority, dma]"}));
  EXPECT_TRUE(has(text, "alone, the GEMM takes 200.000 us and the collective 200.")) << text;
  EXPECT_TRUE(has(text, "(GC-equal); the ideal, the longer one's time, is 2.00x as fast")) << text;
  EXPECT_TRUE(has(text, " serial reaches 0 % of ideal: nothing overlaps.")) << text;
  EXPECT_TRUE(has(text,
                  " base reaches 0 % of ideal: the collective waits 200.000 us for slots "
                  "that the GEMM's WGs hold."))
      << text;
  // 4 CUs for 200 us, then 8.
  EXPECT_TRUE(has(text,
                  " comm_first, priority reach 33 % of ideal: the GEMM takes 1.50x its time "
                  "alone (4 of 8 CUs, 4 waves of WGs instead of 2; HBM <1 % busy)."))
      << text;
  EXPECT_TRUE(has(text,
                  " dma reaches 100 % of ideal: alone, copy engines take 0.81x the kernel's "
                  "time; together, each takes as long as alone."))
      << text;
}

TEST(C3Why, tells_cus_from_channels) {
  const std::string masks = why_c3(report_of({"modes=[partition]", "c3.partition_cus=2"}));
  EXPECT_TRUE(has(masks, "the collective takes 2.00x its time alone (2 CUs; HBM")) << masks;
  const std::string channels =
      why_c3(report_of({"modes=[partition]", "c3.partition_cus=2", "c3.partition_by=channels"}));
  EXPECT_TRUE(has(channels, "the collective takes 2.00x its time alone (2 channels; HBM"))
      << channels;
}

// 8 channels beside the GEMM's WGs on the 8 CUs: nobody has CUs of its own.
TEST(C3Why, counts_no_cus_where_they_are_shared) {
  const std::string text = why_c3(
      report_of({"modes=[priority]", "cluster.gpu.cu.wgs=2", "cluster.gpu.collective.channels=8"}));
  EXPECT_EQ(text.find(" of 8 CUs"), std::string::npos) << text;
}

TEST(C3Table, isolated_runs_are_compared_with_nothing) {
  const std::string text = table(report_of({"modes=[serial, best]"}));
  EXPECT_TRUE(has(text, "mode             time         vs serial   of ideal   comm CUs")) << text;
  EXPECT_TRUE(has(text, "compute_alone    200.000 us   -           -          -")) << text;
  EXPECT_TRUE(has(text, "1.00x       0 %        -")) << text;
}

TEST(C3Summary, has_the_isolated_times_and_each_strategys_gain) {
  const auto summary = nlohmann::json::parse(summary_json(report_of({"modes=[serial, lookup]"})));
  const auto& c3 = summary.at("c3");
  EXPECT_NEAR(c3.at("compute_us").get<double>(), 200, 0.01);
  EXPECT_EQ(c3.at("balance"), "GC-equal");
  const auto& lookup = c3.at("strategies").at("lookup");
  EXPECT_EQ(lookup.at("tried").size(), 3U);  // 1, 2, 4 of 8 CUs
  EXPECT_GT(lookup.at("tried")[0].at("communicate_us"), 799);
  EXPECT_FALSE(lookup.at("tried")[0].contains("together_us"));
  EXPECT_TRUE(summary.at("speedup").contains("lookup_vs_serial"));
  EXPECT_FALSE(summary.at("speedup").contains("comm_alone_vs_serial"));
  EXPECT_FALSE(c3.at("strategies").contains("compute_alone"));
}

}  // namespace
}  // namespace weft::c3_test
