// Knobs of rules for pairs that not every pair has, and those that do not go together.
#include "sim/models/pair_knobs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/models/build_model.h"
#include "sim/models/run_model.h"
#include "tests/unit/models/built.h"

namespace weft::pair_knobs_test {
namespace {

using Messages = std::vector<std::string>;

std::string layers_text(const std::string& rules, const std::string& parallel) {
  return "{kind: transformer, phase: prefill, model: {layers: 4, hidden: 2048, heads: 16, "
         "kv_heads: 16, inner: 8192, vocabulary: 4096}, sequences: 4, sequence_length: 4096, "
         "microbatch: 1, parallel: {" +
         parallel + "}, pairs: [" + rules + "]}";
}

// Four layers on one node of eight H100.
Scenario layers(const std::string& rules) {
  return models_testing::scenario_of(layers_text(rules, "tensor: 8, sequence: true"), 1);
}

Messages idle_in(const Scenario& scenario) {
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  Messages messages;
  for (const AboutRule& rule : idle_knobs(scenario.workload.pairs, pieces_of(graph, cluster),
                                          cluster, overlap_options(scenario))) {
    messages.push_back((rule.severity == Severity::error ? "error " : "warning ") + rule.key +
                       ": " + rule.message);
  }
  return messages;
}

Messages idle_knobs_in(const std::string& rules) { return idle_in(layers(rules)); }

void expect_one(const Messages& messages, const std::string& begins, const std::string& has) {
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].rfind(begins, 0), 0U) << messages[0];
  EXPECT_NE(messages[0].find(has), std::string::npos) << messages[0];
}

TEST(PairKnobs, that_pairs_do_not_have_say_so) {
  EXPECT_EQ(idle_knobs_in("{mode: fused, tile_m: 128, tile_n: 128}"), Messages{});
  EXPECT_EQ(idle_knobs_in("{pair: mlp_down, mode: bulk, algorithm: ring}"), Messages{});
  EXPECT_EQ(idle_knobs_in("{pair: mlp_down, mode: fused, own_first: 16}"),
            Messages{"error own_first: mlp_down + mlp_down_reduce sends its results, and no input "
                     "is brought"});
  EXPECT_EQ(idle_knobs_in("{mode: fused, own_first: 16}").size(), 1U);
  EXPECT_EQ(idle_knobs_in("{mode: fused, own_first: 16}").front().rfind("warning own_first", 0),
            0U);
  EXPECT_EQ(idle_knobs_in("{pair: mlp_down, mode: fused, add: with_own}"), Messages{});
  const Messages none = idle_knobs_in("{pair: mlp_down, mode: bulk, tile_m: 100, tile_n: 128}");
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none[0].rfind("error tile_m: mlp_down + mlp_down_reduce has no tile of 100 x 128; the "
                          "nearest are 96 x 128, 112 x 128,",
                          0),
            0U)
      << none[0];
  const Messages tree = idle_knobs_in("{pair: mlp_down, mode: kernel, algorithm: one_shot}");
  ASSERT_EQ(tree.size(), 1U);
  EXPECT_NE(tree[0].find("reduce_scatter, which has no algorithm 'one_shot'; it has "),
            std::string::npos)
      << tree[0];
}

// Copy engines have no algorithms, protocols or channels, and what they cannot add up is the
// library's: reduce-scatters.
TEST(PairKnobs, of_the_library_are_idle_where_copy_engines_carry_the_collective) {
  const auto idle = [](const std::string& rule) {
    Scenario scenario = layers(rule);
    scenario.collective.executor = CollectiveExecutor::dma;
    return idle_in(scenario);
  };
  EXPECT_EQ(idle("{pair: mlp_down, mode: bulk, algorithm: ring, protocol: ll, channels: 4}"),
            Messages{});
  const std::string why =
      "qkv is carried by copy engines (collective.executor), which have none; use executor cu";
  expect_one(idle("{pair: qkv, mode: bulk, algorithm: ring}"), "error algorithm: ", why);
  expect_one(idle("{pair: qkv, mode: bulk, protocol: ll}"), "error protocol: ", why);
  expect_one(idle("{pair: qkv, mode: bulk, channels: 4}"), "error channels: ", why);
  expect_one(idle("{mode: bulk, channels: 4}"), "warning channels: no effect on some pairs", "");
  EXPECT_EQ(models_testing::problems_of(
                layers_text("{pair: mlp_down, mode: bulk, algorithm: ring, protocol: ll}",
                            "tensor: 8, sequence: true") +
                    ", collective: {executor: dma}",
                1),
            Messages{});
}

// Sixteen GPUs of two nodes, which one switch does not reach; among the eight of a node there is
// nothing to join.
TEST(PairKnobs, are_asked_of_the_groups_that_there_are) {
  const auto idle = [](const std::string& algorithm, const std::string& parallel) {
    return idle_in(models_testing::scenario_of(
        layers_text("{pair: mlp_down, mode: bulk, algorithm: " + algorithm + "}", parallel), 4));
  };
  expect_one(idle("in_switch", "tensor: 16, data: 2"),
             "error algorithm: mlp_down + mlp_down_reduce is of all_reduce of 16 GPUs of several "
             "nodes, which has no algorithm 'in_switch'; it has ",
             "ring");
  EXPECT_EQ(idle("in_switch", "tensor: 8, data: 4"), Messages{});
  EXPECT_EQ(idle("in_switch_tree", "tensor: 16, data: 2"), Messages{});
  expect_one(idle("in_switch_tree", "tensor: 8, data: 4"), "error algorithm: ",
             "all_reduce of 8 GPUs of one node, which has no algorithm 'in_switch_tree'");
}

// Of eight experts Zipf's law gives GPUs unlike numbers of rows: the kernel of some has only tiles
// of 128 x 256, that of others only of 64 x 128.
Scenario uneven_experts(const std::string& rule) {
  Scenario scenario = models_testing::scenario_of(
      "{base: models/mixtral_8x7b, phase: decode, model: {layers: 1}, moe: {router: zipf, "
      "exponent: 1.2, kernel: grouped}, sequences: 1024, sequence_length: 512, microbatch: 128, "
      "parallel: {data: 8, expert: 8}, pairs: [" +
          rule + "]}",
      1);
  scenario.modes = {Mode::mixed};
  return scenario;
}

Duration time_of(const Scenario& scenario) {
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  ModelRun model(scenario, cluster, graph);
  const RunResult result = model.run(Mode::mixed, {});
  EXPECT_EQ(result.ending, Ending::finished) << result.stopped_because;
  return result.time;
}

TEST(PairKnobs, are_tiles_only_where_the_kernels_of_all_gpus_have_them) {
  for (const char* tile : {"tile_m: 128, tile_n: 256", "tile_m: 64, tile_n: 128"}) {
    const std::string rule = "{mode: bulk, " + std::string(tile) + "}";
    const Messages idle = idle_in(uneven_experts(rule));
    ASSERT_EQ(idle.size(), 1U);
    EXPECT_NE(idle[0].find("(of a GPU with "), std::string::npos) << idle[0];
    // So it changes nothing of them; that is told before anything is run.
    EXPECT_EQ(time_of(uneven_experts(rule)), time_of(uneven_experts("{mode: bulk}")));
  }
}

// All-to-alls that no chunks suit run as if there were no rule, and the search counts them so.
TEST(PairKnobs, change_nothing_of_pairs_that_their_mode_does_not_suit) {
  const Scenario plain = uneven_experts("{mode: bulk}");
  const Cluster cluster = build_cluster(plain.cluster);
  const ModelGraph graph = build_model(plain);
  ModelRun model(plain, cluster, graph);
  const Duration bulk = model.run(Mode::mixed, {}).time;
  int found = 0;
  for (const Candidate& one : model.candidates()) {
    if (!one.obstacle.empty() || one.time_in(Mode::kernel) != Duration{}) continue;
    ++found;
    EXPECT_EQ(time_of(uneven_experts("{mode: bulk}, {pair: " + one.name +
                                     ", mode: kernel, channels: 1}")),
              bulk)
        << one.name;
    PairRule rule;
    rule.pair = one.name;
    rule.mode = Mode::kernel;
    rule.channels = 1;
    EXPECT_FALSE(model.time_by(rule, plain.run)) << one.name;
  }
  EXPECT_GT(found, 0);
}

Messages mistakes_of(const std::string& rule) {
  return models_testing::problems_of(
      "{kind: transformer, phase: prefill, model: {layers: 4, hidden: 2048, heads: 16, kv_heads: "
      "8, inner: 8192, vocabulary: 4096}, sequences: 1, sequence_length: 4096, microbatch: 1, "
      "parallel: {tensor: 8}, pairs: [{" +
          rule + "}]}",
      1);
}

TEST(PairKnobs, that_do_not_go_together_are_mistakes) {
  EXPECT_EQ(mistakes_of("mode: fused, tile_m: 128"),
            Messages{"workload.pairs[0].tile_m: tile_m and tile_n go together: give both, or leave "
                     "the tile to the library"});
  EXPECT_EQ(mistakes_of("mode: bulk, algorithm: in_switch, protocol: ll"),
            Messages{"workload.pairs[0].protocol: the switch cannot reduce data with flags in "
                     "between, as ll has; with algorithm: in_switch use simple or auto"});
  EXPECT_EQ(mistakes_of("mode: bulk, algorithm: engine, protocol: ll").size(), 1U);
}

// What is refused of the scenario's own keys is refused of a rule's, where it is said.
TEST(PairKnobs, are_refused_where_the_scenarios_own_would_be) {
  const auto first = [](const Messages& problems) { return problems.empty() ? "" : problems[0]; };
  EXPECT_EQ(first(mistakes_of("mode: bulk, algorithm: in_switch_tree"))
                .rfind("workload.pairs[0].algorithm: in_switch_tree joins the switches of several "
                       "nodes; this cluster has one",
                       0),
            0U);
  const Messages flags =
      models_testing::problems_of(layers_text("{mode: bulk, protocol: ll}", "tensor: 8") +
                                      ", collective: {algorithm: in_switch}",
                                  1);
  EXPECT_EQ(first(flags).rfind("workload.pairs[0].protocol: the switch cannot reduce data with "
                               "flags in between, as ll has",
                               0),
            0U)
      << first(flags);
  const std::string no_rows = "cluster.gpu.collective.engine.rows";
  LoadOptions options = models_testing::shipped_configs();
  options.sets = {no_rows + "=~"};
  const Loaded loaded = load_scenario_text(
      models_testing::text_of(layers_text("{mode: bulk, algorithm: engine}", "tensor: 8"), 1),
      "a.yaml", options);
  ASSERT_EQ(loaded.problems.all().size(), 1U) << loaded.problems.to_text();
  EXPECT_EQ(loaded.problems.all()[0].path, "workload.pairs[0].algorithm");
  EXPECT_EQ(loaded.problems.all()[0].message.rfind(no_rows, 0), 0U);
}

}  // namespace
}  // namespace weft::pair_knobs_test
