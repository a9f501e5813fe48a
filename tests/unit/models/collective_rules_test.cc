// Collectives that the library runs in a way of their own: workload.collectives.
#include "sim/models/collective_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "sim/models/collective_ways.h"
#include "sim/models/run_model.h"
#include "tests/unit/models/built.h"

namespace weft::collective_rules_test {
namespace {

// A step of two layers, each product of which eight GPUs of a node share, on four nodes, which sum
// their gradients.
Scenario step(const std::string& collectives, const std::string& sets = {}) {
  const std::string workload =
      "{kind: transformer, phase: training, model: {layers: 2, hidden: 1024, heads: 8, kv_heads: "
      "8, inner: 4096, vocabulary: 2048}, sequences: 4, sequence_length: 1024, microbatch: 1, "
      "parallel: {tensor: 8, data: 4}, fuse: none, collectives: " +
      (collectives.empty() ? "~" : '[' + collectives + ']') + '}';
  LoadOptions options = models_testing::shipped_configs();
  options.sets = {"modes=[bulk]"};
  if (!sets.empty()) options.sets.push_back(sets);
  const Loaded loaded = load_scenario_text(models_testing::text_of(workload, 4), "a.yaml", options);
  EXPECT_EQ(loaded.problems.to_text(), "");
  return loaded.scenario.value_or(Scenario{});
}

struct Built {
  Scenario scenario;
  Cluster cluster;
  ModelGraph graph;
  explicit Built(const Scenario& of)
      : scenario(of), cluster(build_cluster(of.cluster)), graph(build_model(of)) {
    set_own_options(graph, scenario.workload.collectives, scenario.collective);
  }
  Duration time() {
    ModelRun run(scenario, cluster, graph);
    const RunResult result = run.run(Mode::bulk, {});
    EXPECT_EQ(result.ending, Ending::finished);
    return result.time;
  }
  [[nodiscard]] std::vector<std::string> idle() const {
    std::vector<std::string> texts;
    for (const AboutRule& about :
         idle_rules(scenario.workload.collectives, graph, cluster, scenario.collective)) {
      texts.push_back(std::to_string(about.rule) + '.' + about.key +
                      (about.severity == Severity::error ? ": " : ", a warning: ") + about.message);
    }
    return texts;
  }
};

std::set<std::string> names_with_own(const ModelGraph& graph) {
  std::set<std::string> names;
  for (const ModelOp& op : graph.ops) {
    const auto* call = std::get_if<CommunicationShape>(&op.shape);
    if (call != nullptr && call->own) names.insert(op.name);
  }
  return names;
}

TEST(CollectiveRules, speak_of_the_collectives_that_they_name) {
  const Built built(step("{collective: gradient_sum, algorithm: tree, channels: 4}"));
  EXPECT_EQ(names_with_own(built.graph), std::set<std::string>{"gradient_sum"});
  EXPECT_EQ(built.idle(), std::vector<std::string>{});
}

TEST(CollectiveRules, change_what_they_say_and_nothing_else) {
  CollectiveOptions options;
  options.channels = 7;
  CollectiveRule rule;
  rule.protocol = Protocol::ll;
  const CollectiveOptions own = options_by(rule, options);
  EXPECT_EQ(own.protocol, Protocol::ll);
  EXPECT_EQ(own.channels, 7);
  EXPECT_EQ(own.algorithm, options.algorithm);
}

// The second layer's alone.
TEST(CollectiveRules, of_layers_count_in_these_only) {
  const Built built(step("{collective: mlp_down_reduce, from_layer: 1, algorithm: ring}"));
  for (const ModelOp& op : built.graph.ops) {
    if (op.name != "mlp_down_reduce") continue;
    EXPECT_EQ(std::get<CommunicationShape>(op.shape).own.has_value(),
              built.graph.blocks[op.block].layer == 1);
  }
  EXPECT_EQ(names_with_own(built.graph), std::set<std::string>{"mlp_down_reduce"});
}

TEST(CollectiveRules, the_last_that_fits_counts) {
  const Built built(
      step("{channels: 4}, {collective: gradient_sum, channels: 2}, "
           "{collective: mlp_down_reduce, channels: 8}, {collective: mlp_down_reduce, channels: "
           "1}"));
  for (const ModelOp& op : built.graph.ops) {
    const auto* call = std::get_if<CommunicationShape>(&op.shape);
    if (call == nullptr) continue;
    const int expected = op.name == "gradient_sum" ? 2 : op.name == "mlp_down_reduce" ? 1 : 4;
    EXPECT_EQ((*call->own).channels, expected) << op.name;
  }
  EXPECT_EQ(built.idle(),
            std::vector<std::string>{"2.collective, a warning: no effect: for each collective that "
                                     "it fits a later rule counts"});
}

// What the scenario says of all, a rule for all says as well.
TEST(CollectiveRules, of_all_are_as_the_scenarios_own_keys) {
  EXPECT_EQ(Built(step("{algorithm: ring, protocol: simple}")).time(),
            Built(step("", "collective={algorithm: ring, protocol: simple}")).time());
}

// Sums of gradients by a ring, those of products by trees: neither as all by rings, nor by trees.
TEST(CollectiveRules, give_each_its_own_algorithm) {
  const Duration rings = Built(step("{algorithm: ring}")).time();
  const Duration trees = Built(step("{algorithm: tree}")).time();
  const Duration both =
      Built(step("{algorithm: tree}, {collective: gradient_sum, algorithm: ring}")).time();
  EXPECT_NE(both, rings);
  EXPECT_NE(both, trees);
}

TEST(CollectiveRules, that_fit_nothing_are_told_what_there_is) {
  const std::vector<std::string> idle =
      Built(step("{collective: gradient_sun, channels: 1}")).idle();
  ASSERT_EQ(idle.size(), 1U);
  EXPECT_TRUE(
      idle[0].starts_with("0.collective: no collective is 'gradient_sun' (did you mean "
                          "'gradient_sum'?); there are: "))
      << idle[0];
}

// A reduction in the node's switch needs a node: sums between four have none.
TEST(CollectiveRules, with_an_algorithm_that_is_not_there_are_refused) {
  const std::vector<std::string> idle =
      Built(step("{collective: gradient_sum, algorithm: in_switch}")).idle();
  ASSERT_EQ(idle.size(), 1U);
  EXPECT_TRUE(
      idle[0].starts_with("0.algorithm: gradient_sum is of all_reduce of 4 GPUs of several "
                          "nodes, which has no algorithm 'in_switch'"))
      << idle[0];
}

// By themselves, as often as there are: of each way the time is that of the rule.
TEST(CollectiveWays, are_of_those_outside_pairs_the_shortest_first) {
  Built built(step(""));
  ModelRun model(built.scenario, built.cluster, built.graph);
  model.candidates();
  const std::vector<CollectiveWays> ways =
      collective_ways(model, built.scenario, built.cluster, {});
  const auto sum = std::find_if(ways.begin(), ways.end(), [](const CollectiveWays& one) {
    return one.name == "gradient_sum";
  });
  ASSERT_NE(sum, ways.end());
  ASSERT_FALSE(sum->ways.empty());
  EXPECT_TRUE(std::is_sorted(sum->ways.begin(), sum->ways.end(),
                             [](const auto& a, const auto& b) { return a.time < b.time; }));
  Duration again;
  for (const ModelRun::LoneCollective& one : model.lone_collectives()) {
    if (one.op().name != "gradient_sum") continue;
    again += *model.time_of(one, options_by(sum->ways[0].rule, built.scenario.collective),
                            built.scenario.run) *
             one.times;
  }
  EXPECT_EQ(again, sum->ways[0].time);
}

}  // namespace
}  // namespace weft::collective_rules_test
