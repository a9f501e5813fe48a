// Where tokens go, the operators of a layer of experts, and the models of experts that are shipped.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "sim/models/moe_router.h"
#include "sim/models/streams.h"
#include "sim/scenario/decoder_size.h"
#include "tests/unit/models/built.h"

namespace weft::moe_test {
namespace {

using models_testing::buffer_of;
using models_testing::expect_within_one_percent;
using models_testing::first_named;
using models_testing::names_after;
using models_testing::names_of;
using models_testing::ops_named;
using models_testing::scenario_of;

using Counts = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

TEST(Router, the_largest_remainders_get_what_is_left_over) {
  // 7 x 5/9 = 3.89, 7 x 3/9 = 2.33, 7 x 1/9 = 0.78
  EXPECT_EQ(apportion({.total = 7, .most = 7}, {5, 3, 1}), (Counts{4, 2, 1}));
  EXPECT_EQ(apportion({.total = 10, .most = 10}, {1, 1, 1}), (Counts{4, 3, 3}));
  EXPECT_EQ(apportion({.total = 10, .most = 10, .first = 1}, {1, 1, 1}), (Counts{3, 4, 3}));
}

// 4 tokens twice each: 8 x 10/13 = 6.2, but no token goes to one expert twice.
TEST(Router, an_expert_gets_a_token_once) {
  EXPECT_EQ(apportion({.total = 8, .most = 4}, {10, 1, 1, 1}), (Counts{4, 2, 1, 1}));
}

TEST(Router, zipfs_most_frequent_experts_are_dealt_to_the_gpus) {
  const MoeSpec moe{.experts = 4, .top_k = 1, .skew = RouterSkew::zipf, .exponent = 1};
  EXPECT_EQ(router_weights(moe, 2), (Counts{1'000'000, 333'333, 500'000, 250'000}));
}

// 3 tokens twice each are 6 for 4 experts: 1.5 each, and the halves of both GPUs fall on others.
TEST(Router, what_rounding_leaves_over_goes_round) {
  const RoutedTokens routed = route({.experts = 4, .top_k = 2}, 2, 3, 0);
  EXPECT_EQ(routed.sent, (Counts{3, 3, 3, 3}));
  EXPECT_TRUE(routed.even());
  EXPECT_EQ(routed.busy, 2);
}

TEST(Router, a_histogram_makes_gpus_uneven_and_a_capacity_cuts_the_rest) {
  MoeSpec moe{.experts = 2, .top_k = 1, .skew = RouterSkew::histogram, .histogram = {3, 1}};
  const RoutedTokens routed = route(moe, 2, 4, 0);
  EXPECT_EQ(routed.sent, (Counts{3, 1, 3, 1}));
  EXPECT_EQ(routed.received(0), 6);
  EXPECT_EQ(routed.received(1), 2);
  EXPECT_FALSE(routed.even());
  moe.capacity = 1;
  EXPECT_EQ(route(moe, 2, 4, 0).sent, (Counts{2, 1, 2, 1}));
}

TEST(Router, few_tokens_reach_few_experts_on_all_gpus) {
  const RoutedTokens routed = route({.experts = 64, .top_k = 2}, 8, 4, 0);
  EXPECT_EQ(routed.sent, Counts(64, 1));
  EXPECT_EQ(routed.busy, 8);
  EXPECT_EQ(route({.experts = 256, .top_k = 2}, 8, 4, 0).busy, 8);
}

TEST(Router, every_token_goes_somewhere) {
  for (const double exponent : {0.3, 1.0, 2.5}) {
    const MoeSpec moe{.experts = 64, .top_k = 6, .skew = RouterSkew::zipf, .exponent = exponent};
    const RoutedTokens routed = route(moe, 8, 1'000, 0);
    for (std::size_t from = 0; from < 8; ++from) {
      const auto begin = routed.sent.begin() + static_cast<std::ptrdiff_t>(from * 8);
      EXPECT_EQ(std::accumulate(begin, begin + 8, std::int64_t{0}), 6'000);
    }
  }
}

// Each token goes to top_k different experts, never to one that is not asked for.
TEST(Router, drawn_experts_of_a_token_differ) {
  MoeSpec moe{.experts = 4, .top_k = 3, .skew = RouterSkew::histogram, .histogram = {5, 0, 1, 2}};
  moe.routing = Routing::drawn;
  // Three experts are ever asked for, so each token goes to all of them: 7 from each GPU.
  EXPECT_EQ(route(moe, 4, 7, 1).sent, (Counts{7, 0, 7, 7, 7, 0, 7, 7, 7, 0, 7, 7, 7, 0, 7, 7}));
}

// 4,096 tokens to 2 of 8 experts: 1,024 to each, with a deviation of sqrt(4096 x 1/4 x 3/4) = 28.
TEST(Router, experts_are_drawn_about_as_often_as_expected) {
  MoeSpec moe{.experts = 8, .top_k = 2};
  moe.routing = Routing::drawn;
  const RoutedTokens routed = route(moe, 8, 4096, 1);
  bool differs = false;
  for (const std::int64_t count : routed.sent) {
    EXPECT_NEAR(static_cast<double>(count), 1024, 5 * 28);
    differs = differs || count != 1024;
  }
  EXPECT_TRUE(differs);
  EXPECT_EQ(std::accumulate(routed.sent.begin(), routed.sent.end(), std::int64_t{0}), 8 * 8192);
  EXPECT_EQ(routed.sent, route(moe, 8, 4096, 1).sent);
  EXPECT_NE(routed.sent, route(moe, 8, 4096, 2).sent);
}

const std::string kTiny =
    "kind: moe, model: {layers: 1, hidden: 64, heads: 8, vocabulary: 1000}, sequences: 8, "
    "sequence_length: 16, microbatch: 1, moe: {experts: 8, top_k: 2, inner: 32";

ModelGraph tiny(const std::string& moe, const std::string& more) {
  return build_model(scenario_of("{" + kTiny + moe + "}, " + more + "}", 1));
}

TEST(Experts, of_a_gpu_are_batched_unless_a_scenario_groups_them) {
  for (const bool grouped : {false, true}) {
    const ModelGraph graph =
        tiny(grouped ? ", kernel: grouped" : "", "phase: training, parallel: {data: 8, expert: 4}");
    for (const ModelOp* op :
         {&first_named(graph, "experts_up"), &first_named(graph, "experts_down_weight_gradient")}) {
      const auto& gemm = std::get<GemmShape>(op->shape);
      EXPECT_EQ(gemm.batch, 2);
      EXPECT_EQ(gemm.grouped, grouped);
    }
    EXPECT_FALSE(std::get<GemmShape>(first_named(graph, "qkv").shape).grouped);
  }
}

TEST(Experts, a_layer_dispatches_computes_and_combines) {
  const ModelGraph graph = tiny("", "phase: prefill, parallel: {data: 8, expert: 8}");
  EXPECT_EQ(names_of(graph),
            (Names{"token_embedding", "attn_norm",          "qkv",           "rotary",
                   "attention",       "attn_out",           "attn_residual", "mlp_norm",
                   "router",          "router_top_k",       "dispatch_copy", "dispatch",
                   "experts_up",      "experts_activation", "experts_down",  "combine",
                   "experts_sum",     "mlp_residual",       "final_norm",    "head"}));
  const ModelOp& dispatch = first_named(graph, "dispatch");
  EXPECT_EQ(dispatch.part, "all_to_all");
  EXPECT_EQ(dispatch.stream, kCritical);
  EXPECT_EQ(names_after(graph, first_named(graph, "experts_up")), Names{"dispatch"});
  EXPECT_EQ(names_after(graph, first_named(graph, "combine")), Names{"experts_down"});
  EXPECT_EQ(dispatch.place, first_named(graph, "experts_up").place);
  // 16 tokens twice to 8 experts: 4 a pair, 32 an expert.
  EXPECT_EQ(buffer_of(dispatch), bytes(8 * 4 * 64 * 2));
  const auto& up = std::get<GemmShape>(first_named(graph, "experts_up").shape);
  EXPECT_EQ(up.m, 32);
  EXPECT_EQ(up.n, 64);
  EXPECT_EQ(up.k, 64);
  EXPECT_EQ(up.batch, 1);
}

// 4 B for each expert, before the tokens on the same stream, where a scenario asks for it.
TEST(Experts, gpus_may_tell_one_another_how_many_tokens_will_come) {
  const std::string there = "phase: prefill, parallel: {data: 8, expert: 8}";
  const ModelGraph graph = tiny(", counts: exchanged", there);
  const ModelOp& counts = first_named(graph, "dispatch_counts");
  EXPECT_EQ(counts.stream, first_named(graph, "dispatch").stream);
  EXPECT_EQ(buffer_of(counts), bytes(8 * 4));
  EXPECT_TRUE(ops_named(tiny("", there), "dispatch_counts").empty());
}

// Put row by row, nothing is copied before, and the numbers come with the flags.
TEST(Experts, rows_are_put_without_a_copy_or_counts) {
  const ModelGraph graph = tiny(", exchange: put, exchange_cus: 3, dispatch_dtype: fp8",
                                "phase: prefill, parallel: {data: 8, expert: 8}");
  EXPECT_TRUE(ops_named(graph, "dispatch_copy").empty());
  EXPECT_TRUE(ops_named(graph, "dispatch_counts").empty());
  const auto& there = std::get<CommunicationShape>(first_named(graph, "dispatch").shape);
  // 64 elements of fp8 and one scale; 4 rows a pair.
  EXPECT_EQ(there.row, bytes(64 + 4));
  EXPECT_EQ(there.buffer, bytes(8 * 4 * 68));
  EXPECT_EQ(there.puts, (PutRows{.made_from = bytes(64 * 2), .cus = 3, .packs = true}));
  EXPECT_EQ(rows_put(there, 8), Counts(64, 4));
  const auto& home = std::get<CommunicationShape>(first_named(graph, "combine").shape);
  EXPECT_EQ(home.row, bytes(64 * 2));
  EXPECT_EQ(home.puts, (PutRows{.made_from = bytes(64 * 2), .cus = 3, .packs = false}));
  EXPECT_EQ(std::get<GemmShape>(first_named(graph, "experts_up").shape).fp8, Fp8Scales::block);
  EXPECT_EQ(std::get<GemmShape>(first_named(graph, "experts_down").shape).fp8, Fp8Scales::none);
}

TEST(Experts, home_goes_what_came) {
  const ModelGraph graph =
      tiny(", router: zipf, exponent: 1", "phase: prefill, parallel: {data: 8, expert: 8}");
  const auto& there = std::get<CommunicationShape>(first_named(graph, "dispatch").shape);
  const auto& home = std::get<CommunicationShape>(first_named(graph, "combine").shape);
  ASSERT_EQ(there.pair_bytes.size(), 64U);
  std::int64_t sum = 0;
  for (std::size_t from = 0; from < 8; ++from) {
    for (std::size_t to = 0; to < 8; ++to) {
      EXPECT_EQ(there.pair_bytes[from * 8 + to], home.pair_bytes[to * 8 + from]);
      sum += there.pair_bytes[from * 8 + to];
    }
  }
  EXPECT_EQ(sum, 8 * 16 * 2 * 64 * 2);
  const auto& up = std::get<GemmShape>(first_named(graph, "experts_up").shape);
  EXPECT_EQ(std::accumulate(up.m_by_rank.begin(), up.m_by_rank.end(), std::int64_t{0}), 256);
  EXPECT_GT(up.m_by_rank.front(), up.m_by_rank.back());
}

TEST(Experts, what_all_tokens_go_through_runs_beside_the_dispatch) {
  const ModelGraph graph =
      tiny(", shared_inner: 32", "phase: prefill, parallel: {data: 8, expert: 8}");
  const Names all = names_of(graph);
  EXPECT_EQ(Names(all.begin() + 11, all.begin() + 17),
            (Names{"dispatch", "shared_up", "shared_activation", "shared_down", "experts_up",
                   "experts_activation"}));
}

TEST(Experts, the_way_back_exchanges_gradients_twice) {
  const ModelGraph graph = tiny("", "phase: training, parallel: {data: 8, expert: 4}");
  const Names all = names_of(graph);
  const auto begin = std::find(all.begin(), all.end(), "experts_sum_backward");
  EXPECT_EQ(Names(begin, begin + 13),
            (Names{"experts_sum_backward", "gradient_dispatch", "experts_down_input_gradient",
                   "experts_down_weight_gradient", "experts_activation_backward",
                   "experts_up_input_gradient", "gradient_combine", "experts_up_weight_gradient",
                   "dispatch_copy_backward", "router_input_gradient", "router_weight_gradient",
                   "mlp_norm_weight_gradient", "mlp_norm_backward"}));
  EXPECT_EQ(names_after(graph, first_named(graph, "dispatch_copy_backward")),
            Names{"gradient_combine"});
  // Two experts a GPU, each on two GPUs.
  const ModelOp& sum = first_named(graph, "expert_gradient_sum");
  EXPECT_EQ(buffer_of(sum), bytes(2 * 3 * 64 * 32 * 4));
  EXPECT_EQ(graph.places[sum.place].groups,
            (std::vector<std::vector<std::uint32_t>>{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
}

TEST(Experts, tensor_parallel_gpus_each_bring_their_tokens) {
  const ModelGraph graph = tiny("", "phase: prefill, parallel: {tensor: 4, data: 2, expert: 8}");
  EXPECT_EQ(std::get<GemmShape>(first_named(graph, "router").shape).m, 4);
  EXPECT_EQ(graph.places[first_named(graph, "dispatch").place].groups.size(), 1U);
  EXPECT_EQ(names_after(graph, first_named(graph, "mlp_residual")), Names{"experts_gather"});
  EXPECT_EQ(buffer_of(first_named(graph, "experts_gather")), bytes(16 * 64 * 2));
}

// --- presets

double real(std::int64_t count) { return static_cast<double>(count); }

struct Preset {
  std::string name;
  double parameters;  // published ...
  double active;      // ... and those that one token goes through, less the embedding (ours)
  double layers_of_experts;
  double hidden;
  double top_k;
};

// Mixtral: 46.7 B and 12.9 B of them; DeepSeek-V3: 671 B and 37 B; Qwen2-57B-A14B: 57.4 B and 14 B.
// By hand: attention, experts of a token, shared ones, router, dense layers, head.
const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"mixtral_8x7b", 46.7e9,
       32 * (4096 * 80.0 * 128 + 2 * 3 * 4096.0 * 14336 + 4096 * 8.0) + 4096 * 32000.0, 32, 4096,
       2},
      {"deepseek_v3", 671e9,
       61 * (7168.0 * (1536 + 576) + 1536 * 128.0 * 192 + 512 * 128.0 * 256 + 128 * 128.0 * 7168) +
           58 * (9 * 3 * 7168.0 * 2048 + 7168 * 256.0) + 3 * 3 * 7168.0 * 18432 + 7168 * 129280.0,
       58, 7168, 8},
      {"qwen2_57b_a14b", 57.4e9,
       28 * (3584.0 * (28 + 8 + 28) * 128 + 8 * 3 * 3584.0 * 2560 + 3 * 3584.0 * 20480 +
             3584 * 64.0) +
           3584 * 151936.0,
       28, 3584, 8}};
  return all;
}

ModelGraph built(const Preset& preset, const std::string& more) {
  return build_model(scenario_of("{base: models/" + preset.name + ", " + more + "}", 1));
}

TEST(MoePresets, have_the_parameters_that_are_published) {
  for (const Preset& preset : presets()) {
    const Scenario scenario =
        scenario_of("{base: models/" + preset.name +
                        ", phase: prefill, sequences: 8, sequence_length: 8, microbatch: 1, "
                        "parallel: {data: 8, expert: 8}}",
                    1);
    expect_within_one_percent(real(parameters_of(scenario.workload.transformer)),
                              preset.parameters);
  }
}

// 8 GPUs of 512 tokens: sequences of 8, so that attention is below 1 % of the products.
TEST(MoePresets, training_takes_six_operations_a_weight_that_a_token_goes_through) {
  for (const Preset& preset : presets()) {
    const ModelGraph graph = built(preset,
                                   "phase: training, sequences: 512, sequence_length: 8, "
                                   "microbatch: 64, parallel: {data: 8, expert: 8}");
    expect_within_one_percent(product_flops(graph), 512 * 8 * 6 * preset.active);
  }
}

TEST(MoePresets, every_token_travels_to_its_experts_and_home) {
  for (const Preset& preset : presets()) {
    const ModelGraph graph = built(preset,
                                   "phase: prefill, sequences: 512, sequence_length: 8, "
                                   "microbatch: 64, parallel: {data: 8, expert: 8}");
    for (const char* name : {"dispatch", "combine"}) {
      const std::vector<const ModelOp*> ops = ops_named(graph, name);
      EXPECT_EQ(real(static_cast<std::int64_t>(ops.size())), preset.layers_of_experts);
      EXPECT_EQ(real(buffer_of(*ops.at(0)).count()), 512 * preset.top_k * preset.hidden * 2);
    }
  }
}

// Decoding, DeepSeek's attention looks at 576 elements a token for all heads alike.
TEST(MoePresets, latent_attention_reads_short_vectors) {
  const ModelGraph graph = built(presets()[1],
                                 "phase: decode, sequences: 64, sequence_length: 4096, "
                                 "microbatch: 8, parallel: {data: 8, expert: 8}");
  const auto& attention = std::get<AttentionShape>(first_named(graph, "attention").shape);
  EXPECT_EQ(attention.kv_heads, 1);
  EXPECT_EQ(attention.head_dim, 576);
  EXPECT_EQ(attention.value_head_dim, 512);
  const auto& absorb = std::get<GemmShape>(first_named(graph, "query_absorb").shape);
  EXPECT_EQ(absorb.batch, 128);
  EXPECT_EQ(absorb.k, 128);
  EXPECT_EQ(absorb.n, 512);
  EXPECT_TRUE(ops_named(graph, "key_value_up").empty());
}

}  // namespace
}  // namespace weft::moe_test
