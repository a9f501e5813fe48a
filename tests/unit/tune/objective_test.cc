// What a search wants, in the summary of a point.
#include "sim/tune/objective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace weft::objective_test {
namespace {

const std::filesystem::path kConfigs = std::filesystem::path(WEFT_SOURCE_DIR) / "configs";

constexpr const char* kTwoModes =
    R"({"modes": {"bulk": {"time_us": 20.5, "mfu": 0.2}, "fused": {"time_us": 10, "mfu": 0.4}},
        "speedup": {"fused_vs_bulk": 2.05}})";

TEST(Objective, of_a_field_is_the_best_modes) {
  const auto least = achieved({}, kTwoModes);
  ASSERT_TRUE(least);
  EXPECT_EQ(least->value, 10);
  EXPECT_EQ(least->mode, "fused");
  EXPECT_EQ(least->unit, Unit::us);
  const auto most = achieved({.column = "mfu", .larger_is_better = true}, kTwoModes);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->value, 0.4);
}

TEST(Objective, of_a_column_is_that_modes) {
  const auto bulk = achieved({.column = "bulk_time_us"}, kTwoModes);
  ASSERT_TRUE(bulk);
  EXPECT_EQ(bulk->value, 20.5);
  EXPECT_EQ(bulk->mode, "bulk");
}

// Bulk is the shorter one; of several objectives the others are that mode's.
TEST(Objective, of_several_are_of_the_mode_that_is_best_by_the_first) {
  constexpr const char* kOpposite =
      R"({"modes": {"bulk": {"time_us": 3, "links_busy_max": 0.2},)"
      R"( "fused": {"time_us": 4, "links_busy_max": 0.9}}, "speedup": {}})";
  const Objectives both = {{.column = "time_us"},
                           {.column = "links_busy_max", .larger_is_better = true}};
  const auto found = all_achieved(both, kOpposite);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at(0).mode, "bulk");
  EXPECT_EQ(found->at(1).value, 0.2);
  const std::vector<double> costs = costs_of(both, *found);
  EXPECT_EQ(costs[0], 3);
  EXPECT_DOUBLE_EQ(costs[1], 5);  // 1 / 0.2
  const auto named = all_achieved({both[0], {.column = "fused_links_busy_max"}}, kOpposite);
  ASSERT_TRUE(named);
  EXPECT_EQ(named->at(1).value, 0.9);
  EXPECT_FALSE(all_achieved({both[0], {.column = "mfu"}}, kOpposite));
}

TEST(Objective, does_not_take_half_of_c3_for_the_whole) {
  const auto least = achieved(
      {},
      R"({"modes": {"compute_alone": {"time_us": 5}, "serial": {"time_us": 9}}, "speedup": {}})");
  ASSERT_TRUE(least);
  EXPECT_EQ(least->mode, "serial");
}

TEST(Objective, of_a_collective_is_the_collective_alone) {
  const auto least = achieved({}, R"({"modes": {"comm_alone": {"time_us": 7}}, "speedup": {}})");
  ASSERT_TRUE(least);
  EXPECT_EQ(least->value, 7);
}

TEST(Objective, of_0_is_the_least_there_can_be) {
  const auto none = achieved({}, R"({"modes": {"bulk": {"time_us": 0}}, "speedup": {}})");
  ASSERT_TRUE(none);
  EXPECT_LT(cost_of({}, none->value), cost_of({}, 1e-6));
  EXPECT_GT(cost_of({}, none->value), 0);
}

TEST(Objective, is_nothing_where_the_column_is_missing) {
  EXPECT_FALSE(achieved({.column = "tokens_per_s"}, kTwoModes));
  EXPECT_FALSE(achieved({}, ""));
}

TEST(Objective, costs_less_where_more_is_better) {
  const Objective most{.column = "mfu", .larger_is_better = true};
  EXPECT_LT(cost_of(most, 0.4), cost_of(most, 0.2));
  EXPECT_LT(cost_of({}, 1), cost_of({}, 2));
}

TEST(Objective, names_fields_and_columns) {
  const std::vector<std::string> columns = columns_in(kTwoModes);
  EXPECT_NE(std::find(columns.begin(), columns.end(), "mfu"), columns.end());
  EXPECT_NE(std::find(columns.begin(), columns.end(), "fused_time_us"), columns.end());
}

// Of the time that no mode can be below: itself; on 128 GPUs at 3.6 an hour 128 x 3.6 / 3600 times
// as much in seconds; what it would be the tokens of.
TEST(Objective, is_bounded_by_the_least_time_where_it_follows_from_it) {
  const Loaded loaded =
      load_scenario(kConfigs / "scenarios/models/llama3_70b_training.yaml",
                    {.sets = {"run.gpu_hour_price=3.6"}, .config_dirs = {kConfigs}});
  ASSERT_TRUE(loaded.scenario) << loaded.problems.to_text();
  const ScenarioRun run(loaded);
  const double seconds = run.lower_bound_us() / 1e6;
  const auto bound = [&run](const char* column, bool larger = false) {
    return bounds_of(Objectives{{.column = column, .larger_is_better = larger}}, run).front();
  };
  EXPECT_EQ(bound("time_us"), run.lower_bound_us());
  EXPECT_EQ(bound("fused_time_us"), run.lower_bound_us());
  EXPECT_NEAR(bound("cost").value(), 128 * 3.6 / 3600 * seconds, 1e-9);
  EXPECT_EQ(bound("bulk_cost"), bound("cost"));
  const TransformerSpec& spec = loaded.scenario->workload.transformer;
  const auto tokens = static_cast<double>(spec.sequences * spec.length);
  EXPECT_NEAR(bound("tokens_per_s_per_gpu", true).value() * 128 * seconds / tokens, 1, 1e-9);
  EXPECT_FALSE(bound("memory_of_fullest_gpu_bytes"));
  EXPECT_FALSE(bound("time_us", true));  // the longest is not bounded
  EXPECT_FALSE(bound("tokens_per_s"));   // nor the slowest
  EXPECT_EQ(
      bounds_of(Objectives{{.column = "mfu", .larger_is_better = true},
                           {.column = "memory_of_fullest_gpu_bytes"},
                           {.column = "time_us"},
                           {.column = "cost"}},
                run),
      (std::vector{bound("mfu", true), std::optional<double>(), bound("time_us"), bound("cost")}));
}

}  // namespace
}  // namespace weft::objective_test
