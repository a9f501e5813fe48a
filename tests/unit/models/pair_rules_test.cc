// Mode mixed: which rule counts for a pair, and what a model does by it.
#include "sim/models/pair_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/models/build_model.h"
#include "sim/models/run_model.h"
#include "tests/sanitized.h"
#include "tests/unit/models/built.h"

namespace weft::pair_rules_test {
namespace {

using models_testing::scenario_of;
constexpr auto kPattern = WorkloadKind::gemm_reduce_scatter;
const std::string kDown = "mlp_down + mlp_down_reduce";

TEST(PairRules, the_last_that_fits_counts) {
  PairRules rules(4);
  rules[1].pair = "mlp_down_reduce";
  rules[2].pair = "gemm_reduce_scatter";
  rules[3].pair = "attn_out + attn_out_reduce";
  EXPECT_EQ(rule_of(rules, kDown, kPattern, 0), &rules[2]);
  EXPECT_EQ(rule_of(rules, kDown, WorkloadKind::gemm_all_reduce, 0), &rules[1]);
  EXPECT_EQ(rule_of(rules, "attn_out + attn_out_reduce", kPattern, 0), &rules[3]);
  EXPECT_EQ(rule_of(rules, "mlp_gather + mlp_up", WorkloadKind::all_gather_gemm, 0), &rules[0]);
  rules.erase(rules.begin());
  EXPECT_EQ(rule_of(rules, "mlp_gather + mlp_up", WorkloadKind::all_gather_gemm, 0), nullptr);
  EXPECT_EQ(rule_of(rules, "mlp + mlp_reduce", WorkloadKind::gemm_all_reduce, 0), nullptr);
}

TEST(PairRules, of_layers_count_in_these_only) {
  PairRules rules(3);
  rules[1].from_layer = 2;
  rules[1].to_layer = 3;
  rules[2].from_layer = 3;
  EXPECT_EQ(rules_of_layer(rules, -1), 0U);
  EXPECT_EQ(rules_of_layer(rules, 1), 0U);
  EXPECT_EQ(rules_of_layer(rules, 2), 0b010U);
  EXPECT_EQ(rules_of_layer(rules, 3), 0b110U);
  EXPECT_EQ(rules_of_layer(rules, 4), 0b100U);
  const auto counts = [&](int layer) {
    return rule_of(rules, kDown, kPattern, rules_of_layer(rules, layer)) - rules.data();
  };
  EXPECT_EQ(counts(-1), 0);
  EXPECT_EQ(counts(2), 1);
  EXPECT_EQ(counts(3), 2);
}

TEST(PairRules, change_what_they_name_and_nothing_else) {
  OverlapOptions options;
  options.fused.slice_wgs = 3;
  options.fused.max_wgs_per_cu = 2;
  options.kernel.chunks = 4;
  PairRule rule;
  rule.mode = Mode::role_split;
  rule.slice_wgs = 7;
  rule.order = DestinationOrder::staggered;
  const PairWay way = way_by(rule, options);
  EXPECT_EQ(way.mode, Mode::role_split);
  EXPECT_EQ(way.options.fused.slice_wgs, 7);
  EXPECT_EQ(way.options.fused.order, DestinationOrder::staggered);
  EXPECT_EQ(way.options.fused.max_wgs_per_cu, 2);
  EXPECT_EQ(way.options.kernel.chunks, 4);
}

// Four layers on one node of eight H100.
Scenario layers(const std::string& pairs, const std::string& fuse = "auto") {
  return scenario_of(
      "{kind: transformer, phase: prefill, model: {layers: 4, hidden: 2048, heads: 16, kv_heads: "
      "8, inner: 8192, vocabulary: 4096}, sequences: 1, sequence_length: 4096, microbatch: 1, "
      "parallel: {tensor: 8, sequence: true}, fuse: " +
          fuse + ", pairs: " + (pairs.empty() ? "~" : '[' + pairs + ']') + "}",
      1);
}

Duration time_of(const Scenario& scenario, Mode mode) {
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  ModelRun model(scenario, cluster, graph);
  const RunResult result = model.run(mode, {});
  EXPECT_EQ(result.ending, Ending::finished) << result.stopped_because;
  EXPECT_TRUE(result.ledger.balanced());
  return result.time;
}

const std::string kPatterns = "[gemm_reduce_scatter, all_gather_gemm]";

// With one rule for all, mixed is that mode; with `bulk`, bulk.
TEST(MixedMode, with_a_rule_for_all_is_the_mode_of_the_rule) {
  const Scenario all = layers("", kPatterns);
  EXPECT_EQ(time_of(layers("{mode: bulk}"), Mode::mixed), time_of(all, Mode::bulk));
  EXPECT_EQ(time_of(layers("{mode: fused}"), Mode::mixed), time_of(all, Mode::fused));
  Scenario two_chunks = all;
  two_chunks.kernel.chunks = 2;
  EXPECT_EQ(time_of(layers("{mode: kernel, chunks: 2}"), Mode::mixed),
            time_of(two_chunks, Mode::kernel));
}

// Layers are alike but for rules: two with one, two with none, and each takes what it takes
// wherever it is.
TEST(MixedMode, has_layers_that_differ_by_their_rules) {
  const Duration none = time_of(layers("{mode: bulk}"), Mode::mixed);
  const Duration two =
      time_of(layers("{mode: bulk}, {mode: fused, from_layer: 1, to_layer: 2}"), Mode::mixed);
  const Duration all = time_of(layers("{mode: fused}"), Mode::mixed);
  EXPECT_LT(all, none);
  EXPECT_NEAR(to_microseconds(none - two), to_microseconds(none - all) / 2, 1);
}

TEST(MixedMode, without_rules_takes_the_fastest_way_of_each_pair) {
  if (kSanitized) GTEST_SKIP() << "minutes with sanitizers; other builds run it";
  const Scenario scenario = layers("");
  const Duration mixed = time_of(scenario, Mode::mixed);
  for (const Mode mode : {Mode::bulk, Mode::kernel, Mode::fused}) {
    EXPECT_LE(mixed, time_of(scenario, mode)) << static_cast<int>(mode);
  }
  EXPECT_EQ(time_of(layers("", "none"), Mode::mixed), time_of(scenario, Mode::bulk));
}

std::vector<std::string> idle(const std::string& pairs) {
  const Scenario scenario = layers(pairs);
  const Cluster cluster = build_cluster(scenario.cluster);
  const ModelGraph graph = build_model(scenario);
  std::vector<std::string> messages;
  for (const AboutRule& rule :
       idle_rules(scenario.workload.pairs, pieces_of(graph, cluster), cluster)) {
    messages.push_back(std::to_string(rule.rule) + ": " + rule.message);
  }
  return messages;
}

TEST(PairRules, that_no_pair_fits_are_told) {
  using Messages = std::vector<std::string>;
  EXPECT_EQ(idle("{mode: fused}, {pair: mlp_down, mode: role_split}"), Messages{});
  EXPECT_EQ(
      idle("{pair: mlp_dwn, mode: fused}"),
      (Messages{"0: no pair that could be overlapped is 'mlp_dwn' (did you mean 'mlp_down'?); "
                "there are: attn_gather + qkv, attn_out + attn_out_reduce, mlp_down + "
                "mlp_down_reduce, mlp_gather + mlp_up; of patterns all_gather_gemm, "
                "gemm_reduce_scatter"}));
  EXPECT_EQ(idle("{pair: mlp_down, mode: kernel}, {mode: fused}"),
            (Messages{"0: no effect: for each pair that it fits a later rule counts"}));
}

// 4,096 x 2,048 in tiles of 128 x 128 are 512 WGs, 64 for each of eight GPUs.
TEST(PairRules, with_slices_that_do_not_divide_say_what_is_used) {
  const auto fitted = [](const std::string& slice) {
    const Scenario scenario = layers("{pair: mlp_down, mode: fused, slice_wgs: " + slice + "}");
    const Cluster cluster = build_cluster(scenario.cluster);
    const ModelGraph graph = build_model(scenario);
    std::vector<std::string> messages;
    for (const AboutRule& rule : fitted_slices(scenario.workload.pairs, pieces_of(graph, cluster),
                                               cluster, overlap_options(scenario))) {
      messages.push_back(rule.message);
    }
    return messages;
  };
  using Messages = std::vector<std::string>;
  EXPECT_EQ(fitted("8"), Messages{});
  EXPECT_EQ(fitted("12"), (Messages{"12 does not divide what mlp_down + mlp_down_reduce has for "
                                    "each peer; 4 is used"}));
}

TEST(PairRules, of_layers_that_do_not_exist_are_mistakes) {
  const auto problems = [](const std::string& rule) {
    return models_testing::problems_of(
        "{kind: transformer, phase: prefill, model: {layers: 4, hidden: 2048, heads: 16, kv_heads: "
        "8, inner: 8192, vocabulary: 4096}, sequences: 1, sequence_length: 4096, microbatch: 1, "
        "parallel: {tensor: 8}, pairs: [{mode: fused, " +
            rule + "}]}",
        1);
  };
  using Problems = std::vector<std::string>;
  EXPECT_EQ(problems("from_layer: 4"),
            Problems{"workload.pairs[0].from_layer: the model has 4 layers, 0 to 3"});
  EXPECT_EQ(problems("from_layer: 2, to_layer: 1"),
            Problems{"workload.pairs[0].to_layer: below from_layer, 2"});
}

TEST(PairRules, leave_a_cu_to_compute) {
  EXPECT_EQ(models_testing::problems_of(
                "{kind: transformer, phase: prefill, model: {layers: 4, hidden: 2048, heads: 16, "
                "kv_heads: 8, inner: 8192, vocabulary: 4096}, sequences: 1, sequence_length: 4096, "
                "microbatch: 1, parallel: {tensor: 8}, pairs: [{mode: role_split, sending_cus: "
                "132}]}",
                1),
            std::vector<std::string>{"workload.pairs[0].sending_cus: 132 of 132 CUs leave none to "
                                     "compute; at most 131"});
}

TEST(PairRules, change_the_tile_and_the_collective_of_the_library) {
  PairRule rule;
  EXPECT_TRUE(way_by(rule, {}).is_plain_bulk());
  rule.tile_m = 128;
  rule.tile_n = 256;
  rule.algorithm = AskedAlgorithm{.named = Algorithm::ring};
  rule.protocol = Protocol::ll;
  rule.channels = 4;
  rule.own_first = 16;
  rule.add = FusedAdd::with_own;
  const PairWay way = way_by(rule, {});
  EXPECT_TRUE(way.changes_bulk);
  EXPECT_FALSE(way.is_plain_bulk());
  EXPECT_EQ(way.tile, (GemmTile{128, 256}));
  EXPECT_EQ(way.options.collective.algorithm, *rule.algorithm);
  EXPECT_EQ(way.options.collective.protocol, Protocol::ll);
  EXPECT_EQ(way.options.collective.channels, 4);
  EXPECT_EQ(way.options.fused.own_first, 16);
  EXPECT_EQ(way.options.fused.add, FusedAdd::with_own);
}

// A rule that says what is done anyway changes nothing; one with a tile of half the largest one's
// operations for each byte, or with two channels, takes longer.
TEST(MixedMode, has_the_tiles_and_collectives_of_its_rules) {
  if (kSanitized) GTEST_SKIP() << "minutes with sanitizers; other builds run it";
  const Scenario plain = layers("{mode: bulk}");
  const Duration bulk = time_of(plain, Mode::mixed);
  const std::string channels = std::to_string(plain.cluster.gpu.collective.channels);
  EXPECT_EQ(time_of(layers("{mode: bulk, channels: " + channels + "}"), Mode::mixed), bulk);
  EXPECT_GT(time_of(layers("{mode: bulk, channels: 2}"), Mode::mixed), bulk);
  EXPECT_GT(time_of(layers("{mode: bulk, tile_m: 64, tile_n: 64}"), Mode::mixed), bulk);
  const Duration fused = time_of(layers("{mode: fused}"), Mode::mixed);
  EXPECT_GT(time_of(layers("{mode: fused, tile_m: 64, tile_n: 64}"), Mode::mixed), fused);
  const Duration chunks = time_of(layers("{mode: kernel}"), Mode::mixed);
  EXPECT_GT(time_of(layers("{mode: kernel, channels: 2}"), Mode::mixed), chunks);
  EXPECT_NE(time_of(layers("{mode: pipelined, tile_m: 64, tile_n: 64}"), Mode::mixed),
            time_of(layers("{mode: pipelined}"), Mode::mixed));
  EXPECT_NE(time_of(layers("{mode: kernel, protocol: ll}"), Mode::mixed),
            time_of(layers("{mode: kernel, protocol: simple}"), Mode::mixed));
}

}  // namespace
}  // namespace weft::pair_rules_test
