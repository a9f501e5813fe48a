// The sweep file that `weft tune --pairs` makes of the ways of pairs.
#include "sim/tune/pairs_space.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sim/sweep/plan.h"

namespace weft::pairs_space_test {
namespace {

namespace fs = std::filesystem;

// So many ways of a pair, each one us longer than the one before.
PairWays pair(const std::string& operation, int ways) {
  PairWays made{.name = operation + " + " + operation + "_reduce",
                .computing = operation,
                .bulk = microseconds(90),
                .ways = {}};
  for (int i = 1; i <= ways; ++i) {
    PairRule rule;
    rule.pair = made.name;
    rule.mode = Mode::fused;
    rule.slice_wgs = i;
    made.ways.push_back({.rule = rule, .time = microseconds(i)});
  }
  return made;
}

// So many ways of a collective, by channels.
CollectiveWays collective(const std::string& name, int ways) {
  CollectiveWays made{.name = name, .as_it_is = microseconds(90), .ways = {}};
  for (int i = 1; i <= ways; ++i) {
    CollectiveRule rule;
    rule.collective = name;
    rule.algorithm = AskedAlgorithm{.named = Algorithm::tree};
    rule.channels = i;
    made.ways.push_back({.rule = rule, .time = microseconds(i)});
  }
  return made;
}

SweepPlan plan_of(const std::vector<PairWays>& pairs, std::size_t rules = 0) {
  const fs::path configs = fs::path(WEFT_SOURCE_DIR) / "configs";
  const std::string head = "name: a\nscenario: scenarios/models/llama3_70b_pairs\naxes:\n";
  LoadedPlan loaded = load_plan_text(
      text_of_pairs(pairs, rules, head), "space.yaml",
      {.sets = {}, .config_dirs = [&](const fs::path&) { return std::vector{configs}; }});
  EXPECT_EQ(loaded.problems.to_text(), "");
  return loaded.plan.value_or(SweepPlan{});
}

TEST(PairsSpace, has_a_rule_of_each_pair_as_an_axis_after_those_that_there_are) {
  const SweepPlan plan = plan_of({pair("mlp_down", 2), pair("attn_out", 1)}, 4);
  EXPECT_EQ(columns_of(plan), (std::vector<AxisColumn>{{"workload.pairs.4", "mlp_down"},
                                                       {"workload.pairs.5", "attn_out"}}));
  EXPECT_EQ(plan.points.size(), 6U);
  EXPECT_EQ(text_of(cells_of(plan, plan.points[0])[0]), "as_it_is");
  EXPECT_EQ(text_of(cells_of(plan, plan.points[5])[0]), "fused/slice_wgs:2");
}

// The scenario has four rules: its own at the first point, two more at the last.
TEST(PairsSpace, gives_its_points_their_rules) {
  const SweepPlan plan = plan_of({pair("mlp_down", 2), pair("attn_out", 1)}, 4);
  PointLoader loader(plan);
  const auto rules = [&](const Point& point) {
    const Loaded loaded = loader.load(point);
    EXPECT_TRUE(loaded.scenario) << loaded.problems.to_text();
    return loaded.scenario->workload.pairs;
  };
  EXPECT_EQ(rules(plan.points[0]).size(), 4U);
  const PairRules last = rules(plan.points[5]);
  ASSERT_EQ(last.size(), 6U);
  EXPECT_EQ(last[4].pair, "mlp_down + mlp_down_reduce");
  EXPECT_EQ(last[4].slice_wgs, 2);
  EXPECT_EQ(last[5].pair, "attn_out + attn_out_reduce");
}

// An axis that is left as it is leaves no gap before the next.
TEST(PairsSpace, may_have_some_pairs_as_they_are) {
  const SweepPlan plan = plan_of({pair("mlp_down", 1), pair("attn_out", 1)}, 4);
  const Loaded loaded = PointLoader(plan).load({.values = {0, 1}});
  ASSERT_TRUE(loaded.scenario) << loaded.problems.to_text();
  ASSERT_EQ(loaded.scenario->workload.pairs.size(), 5U);
  EXPECT_EQ(loaded.scenario->workload.pairs[4].pair, "attn_out + attn_out_reduce");
}

// 100,000 points: 12 values each of four pairs are 20,736, of six no more than 6 (46,656), of 16
// no more than 2 (65,536).
TEST(PairsSpace, has_as_many_ways_as_let_all_combinations_be_some) {
  const auto sizes = [](int number) {
    std::vector<PairWays> pairs;
    for (int i = 0; i < number; ++i) pairs.push_back(pair(fmt::format("op{}", i), 30));
    const SweepPlan plan = plan_of(pairs);
    return std::pair(plan.axes.size(), plan.axes.front().size());
  };
  EXPECT_EQ(sizes(4), std::pair(std::size_t{4}, std::size_t{12}));
  EXPECT_EQ(sizes(6), std::pair(std::size_t{6}, std::size_t{6}));
  EXPECT_EQ(sizes(16), std::pair(std::size_t{16}, std::size_t{2}));
  EXPECT_EQ(sizes(17), std::pair(std::size_t{16}, std::size_t{2}));
}

TEST(PairsSpace, names_those_that_are_left_out) {
  std::vector<PairWays> pairs;
  for (int i = 0; i < 17; ++i) pairs.push_back(pair(fmt::format("op{}", i), 1));
  const std::string text = text_of_pairs(pairs, 0, "");
  EXPECT_NE(text.find("# Too many points with: \"op16 + op16_reduce\"\n"), std::string::npos);
}

// Names of recorded kernels are not words, and several may compute in one of the same name.
TEST(PairsSpace, makes_columns_of_any_names) {
  PairWays one = pair("2x<float, 4>", 1);
  PairWays two = pair("status", 1);
  PairWays three = two;
  three.name = "gather: \"status\"";
  three.ways[0].rule.pair = three.name;
  const SweepPlan plan = plan_of({one, two, three});
  const std::vector<AxisColumn> columns = columns_of(plan);
  ASSERT_EQ(columns.size(), 3U);
  EXPECT_EQ(columns[0].column, "pair_2x_float__4_");
  EXPECT_EQ(columns[1].column, "status_2");
  EXPECT_EQ(columns[2].column, "status_3");
  const Entry* name = plan.axes[2].keys[0].values[1].find("pair");
  ASSERT_NE(name, nullptr);
  EXPECT_EQ(name->value.text, three.name);
}

// A thousand points: six values each of three collectives are 216, of four no more than five (625),
// of nine two (512); of ten two are too many.
TEST(CollectivesSpace, has_as_many_ways_as_let_all_combinations_be_a_thousand) {
  const auto points = [](int number) {
    std::vector<CollectiveWays> all;
    for (int i = 0; i < number; ++i) all.push_back(collective(fmt::format("c{}", i), 9));
    return axes_of_collectives(all, 0).points;
  };
  EXPECT_EQ(points(3), 216U);
  EXPECT_EQ(points(4), 625U);
  EXPECT_EQ(points(9), 512U);
  EXPECT_EQ(points(10), 512U);
}

TEST(CollectivesSpace, says_the_rule_of_each_way) {
  const std::string text = axes_of_collectives({collective("gradient_sum", 1)}, 2).text;
  EXPECT_EQ(text,
            "  # A step's collectives of this name by themselves, as they are: 90.0 us.\n"
            "  - key: workload.collectives.2\n    name: gradient_sum\n    values:\n      - ~\n"
            "      - {collective: gradient_sum, algorithm: tree, channels: 1}  # 1.0 us\n"
            "    labels: [as_it_is, \"algorithm:tree/channels:1\"]\n");
}

// Six points of the collectives beside the pairs.
TEST(PairsSpace, has_axes_of_the_collectives_outside_pairs) {
  const OtherAxes others =
      axes_of_collectives({collective("gradient_sum", 1), collective("a", 2)}, 3);
  std::vector<PairWays> pairs;
  for (int i = 0; i < 4; ++i) pairs.push_back(pair(fmt::format("op{}", i), 30));
  const fs::path configs = fs::path(WEFT_SOURCE_DIR) / "configs";
  const LoadedPlan loaded = load_plan_text(
      text_of_pairs(pairs, 4, "name: a\nscenario: scenarios/models/llama3_70b_pairs\naxes:\n",
                    others),
      "space.yaml",
      {.sets = {}, .config_dirs = [&](const fs::path&) { return std::vector{configs}; }});
  ASSERT_TRUE(loaded.plan) << loaded.problems.to_text();
  ASSERT_EQ(loaded.plan->axes.size(), 6U);
  EXPECT_EQ(columns_of(*loaded.plan)[0], (AxisColumn{"workload.collectives.3", "gradient_sum"}));
  EXPECT_EQ(columns_of(*loaded.plan)[1], (AxisColumn{"workload.collectives.4", "a"}));
  EXPECT_EQ(loaded.plan->axes[2].size(), 11U);  // 6 x 11^4 = 87,846; with 12 of each 124,416
}

}  // namespace
}  // namespace weft::pairs_space_test
