// Where tokens go, the operators of a layer of experts, and the models of experts that are shipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "sim/models/expert_groups.h"
#include "sim/models/fusions.h"
#include "sim/models/moe_router.h"
#include "sim/models/pair_rules.h"
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
using models_testing::problems_of;
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

// Two groups of two experts, of which a token takes one: its first expert's group, and both experts
// of it. So it has none of a given expert or group with chance 1/2.
TEST(ExpertGroups, of_which_a_token_takes_one_have_all_of_its_experts) {
  const MoeSpec moe{.experts = 4, .top_k = 2, .groups = 2, .top_groups = 1};
  EXPECT_DOUBLE_EQ(chance_of_none(moe, 1), 0.5);
  EXPECT_DOUBLE_EQ(chance_of_none(moe, 2), 0.5);
}

// All groups: as without groups. 16 experts, 4 of a token: none of 4 given ones with chance
// 12/16 x 11/15 x 10/14 x 9/13.
TEST(ExpertGroups, that_all_count_limit_nothing) {
  const MoeSpec moe{.experts = 16, .top_k = 4, .groups = 4, .top_groups = 4};
  const double none = 12.0 / 16 * 11 / 15 * 10 / 14 * 9 / 13;
  EXPECT_NEAR(chance_of_none(moe, 4), none, 1e-12);
  EXPECT_NEAR(chance_of_none(moe, 8), 8.0 / 16 * 7 / 15 * 6 / 14 * 5 / 13, 1e-12);
  EXPECT_NEAR(chance_of_none(moe, 1), 12.0 / 16, 1e-12);
}

// Three groups of one expert, two of which a token takes: 1/3 for any.
TEST(ExpertGroups, of_one_expert_are_experts) {
  const MoeSpec moe{.experts = 3, .top_k = 2, .groups = 3, .top_groups = 2};
  EXPECT_NEAR(chance_of_none(moe, 1), 1.0 / 3, 1e-12);
}

// DeepSeek-V3 on 64 GPUs: no token reaches more than four of eight nodes, drawn and expected agree,
// and each expert is used as often as without groups.
TEST(ExpertGroups, limit_how_many_nodes_a_token_reaches) {
  MoeSpec moe{.experts = 256, .top_k = 8, .groups = 8, .top_groups = 4};
  moe.exchange = TokenExchange::once;
  const auto nodes_of = [](const RoutedTokens& routed, std::int64_t from) {
    const auto first = routed.reached.nodes.begin() + from * 8;
    return std::accumulate(first, first + 8, std::int64_t{0});
  };
  const RoutedTokens expected = route(moe, 64, 4096, 1, 8);
  moe.routing = Routing::drawn;
  const RoutedTokens drawn = route(moe, 64, 4096, 1, 8);
  EXPECT_LE(nodes_of(drawn, 5), 4 * 4096);
  EXPECT_GT(nodes_of(drawn, 5), 3.8 * 4096);
  EXPECT_NEAR(static_cast<double>(nodes_of(drawn, 5)) / static_cast<double>(nodes_of(expected, 5)),
              1, 0.005);
  EXPECT_EQ(std::accumulate(drawn.sent.begin(), drawn.sent.begin() + 64, std::int64_t{0}),
            4096 * 8);
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

// Each token is counted once at a GPU, and once at a node.
TEST(Router, tokens_are_drawn_to_gpus_and_nodes_as_often_as_expected) {
  MoeSpec moe{.experts = 16, .top_k = 4, .exchange = TokenExchange::once};
  const RoutedTokens expected = route(moe, 8, 4096, 1, 4);
  // Two of 16 experts are on a GPU: none of 4 there with 14/16 x 13/15 x 12/14 x 11/13 = 0.55;
  // eight on a node: none with 8/16 x 7/15 x 6/14 x 5/13 = 0.03846.
  EXPECT_EQ(expected.reached.gpus, Counts(64, 1843));   // 4096 x 0.45
  EXPECT_EQ(expected.reached.nodes, Counts(16, 3938));  // 4096 x 0.96154
  moe.routing = Routing::drawn;
  const RoutedTokens drawn = route(moe, 8, 4096, 1, 4);
  ASSERT_EQ(drawn.reached.gpus.size(), 64U);
  ASSERT_EQ(drawn.reached.nodes.size(), 16U);
  for (const std::int64_t count : drawn.reached.gpus) {
    EXPECT_NEAR(static_cast<double>(count), 1843, 5 * 32);  // sqrt(4096 x 0.45 x 0.55)
  }
  for (const std::int64_t count : drawn.reached.nodes) {
    EXPECT_NEAR(static_cast<double>(count), 3938, 5 * 12.3);
  }
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

// Sums over tokens, of which GPUs have different numbers: rows of both operands lie along inner and
// hidden, not along the tokens, whose odd number would cost what copies of unaligned rows do.
TEST(Experts, gradients_of_weights_read_rows_of_features_however_many_tokens_there_are) {
  const ModelGraph graph =
      tiny(", routing: drawn, kernel: batched", "phase: training, parallel: {data: 8, expert: 4}");
  const auto& gemm = std::get<GemmShape>(first_named(graph, "experts_down_weight_gradient").shape);
  ASSERT_FALSE(gemm.m_by_rank.empty());
  EXPECT_EQ(gemm.layout, GemmLayout::nn);  // A along k, B along n
  EXPECT_EQ(gemm.k, 32);
  EXPECT_EQ(gemm.n, 64);
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

// Two of eight GPUs split each expert: four groups of two GPUs exchange tokens, 16 twice each over
// four GPUs with two experts, 8 a pair and 32 to each; both of a group gather each other's.
TEST(Experts, are_split_among_neighbours_that_gather_what_comes_to_either) {
  const ModelGraph graph =
      tiny("", "phase: training, parallel: {data: 8, expert: 4, expert_tensor: 2}");
  using Group = std::vector<std::uint32_t>;
  const ModelOp& dispatch = first_named(graph, "dispatch");
  EXPECT_EQ(graph.places[dispatch.place].groups, (std::vector<Group>{{0, 2, 4, 6}, {1, 3, 5, 7}}));
  EXPECT_EQ(buffer_of(dispatch), bytes(4 * 8 * 64 * 2));
  const ModelOp& gather = first_named(graph, "dispatch_gather");
  EXPECT_EQ(graph.places[gather.place].groups,
            (std::vector<Group>{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(buffer_of(gather), bytes(2 * 32 * 64 * 2));
  EXPECT_EQ(names_after(graph, gather), Names{"dispatch"});
  EXPECT_EQ(names_after(graph, first_named(graph, "dispatch_sort")), Names{"dispatch_gather"});
  const auto& up = std::get<GemmShape>(first_named(graph, "experts_up").shape);
  EXPECT_EQ(std::tuple(up.m, up.n, up.k, up.batch), std::tuple(32, 2 * 32 / 2, 64, 2));
  const auto& down = std::get<GemmShape>(first_named(graph, "experts_down").shape);
  EXPECT_EQ(std::tuple(down.m, down.n, down.k, down.batch), std::tuple(32, 64, 32 / 2, 2));
  const ModelOp& reduce = first_named(graph, "combine_reduce");
  EXPECT_EQ(std::get<CommunicationShape>(reduce.shape).op, CollectiveOp::reduce_scatter);
  EXPECT_EQ(buffer_of(reduce), buffer_of(gather));
  EXPECT_EQ(names_after(graph, first_named(graph, "combine")), Names{"combine_reduce"});
  EXPECT_EQ(buffer_of(first_named(graph, "gradient_dispatch_gather")), buffer_of(gather));
  // Nobody else has a part of an expert: nothing is summed.
  EXPECT_TRUE(ops_named(graph, "expert_gradient_sum").empty());
}

// All experts on each GPU, each cut in eight: no all-to-all is left.
TEST(Experts, split_among_all_gpus_exchange_nothing) {
  const ModelGraph graph = tiny("", "phase: prefill, parallel: {data: 8, expert_tensor: 8}");
  EXPECT_TRUE(ops_named(graph, "dispatch").empty());
  EXPECT_EQ(buffer_of(first_named(graph, "dispatch_gather")), bytes(8 * 16 * 2 * 64 * 2));
  EXPECT_EQ(names_after(graph, first_named(graph, "experts_sum")), Names{"combine_reduce"});
  // Sent once, each token is gathered once and copied for its experts where it is multiplied.
  const ModelGraph once =
      tiny(", exchange: once", "phase: prefill, parallel: {data: 8, expert_tensor: 8}");
  EXPECT_EQ(buffer_of(first_named(once, "dispatch_gather")), bytes(8 * 16 * 64 * 2));
  EXPECT_FALSE(ops_named(once, "dispatch_spread").empty());
  EXPECT_FALSE(ops_named(once, "experts_sum_here").empty());
}

TEST(Experts, may_have_a_kernel_each) {
  const ModelGraph graph =
      tiny(", kernel: each", "phase: training, parallel: {data: 8, expert: 4}");
  for (const char* name : {"experts_up", "experts_down_weight_gradient"}) {
    const std::vector<const ModelOp*> kernels = ops_named(graph, name);
    ASSERT_EQ(kernels.size(), 2U) << name;
    EXPECT_EQ(std::get<GemmShape>(kernels[0]->shape).batch, 1);
  }
}

// Of two experts a GPU and four senders: 4 x 16 x 2 / 4 = 32 rows come to each of four GPUs, lie by
// sender, and are copied by expert and back, in the way back as well.
TEST(Experts, rows_that_come_from_several_are_put_by_expert_and_back) {
  const std::string training = "phase: training, parallel: {data: 8, expert: 4}";
  const ModelGraph graph = tiny("", training);
  for (const char* name :
       {"dispatch_sort", "combine_sort", "dispatch_sort_backward", "combine_sort_backward"}) {
    const auto& copy = std::get<StreamShape>(first_named(graph, name).shape);
    EXPECT_EQ(copy.read, bytes(32 * 64 * 2)) << name;
    EXPECT_EQ(copy.written, bytes(32 * 64 * 2)) << name;
    EXPECT_EQ(copy.instructions, 0) << name;
  }
  EXPECT_EQ(names_after(graph, first_named(graph, "dispatch_sort")), Names{"dispatch"});
  EXPECT_EQ(names_after(graph, first_named(graph, "combine")), Names{"combine_sort"});
  // One expert a GPU has nothing to sort, and products may read rows where they lie.
  for (const ModelGraph& without :
       {tiny("", "phase: training, parallel: {data: 8, expert: 8}"),
        tiny(", permutation: in_products", training), tiny(", exchange: once", training)}) {
    EXPECT_TRUE(ops_named(without, "dispatch_sort").empty());
    EXPECT_TRUE(ops_named(without, "combine_sort_backward").empty());
  }
}

// On the way back of rows[index] the 32 indices are sorted, and all 32 rows of 64 are added up.
TEST(Experts, rows_by_index_are_added_up_in_the_order_of_their_places) {
  const ModelGraph graph =
      tiny(", permutation: index", "phase: training, parallel: {data: 8, expert: 4}");
  for (const char* name : {"dispatch_copy_backward", "dispatch_sort_backward",
                           "combine_sort_backward", "combine_copy_backward"}) {
    EXPECT_EQ(ops_named(graph, std::string(name) + "_zeros").size(), ops_named(graph, name).size());
    EXPECT_FALSE(ops_named(graph, std::string(name) + "_sort").empty()) << name;
    const auto& sum = std::get<StreamShape>(first_named(graph, name).shape);
    EXPECT_GT(sum.instructions, 32 * 64) << name;
  }
  // 16 tokens twice, to their places among the tokens.
  const auto& back = std::get<StreamShape>(first_named(graph, "dispatch_copy_backward").shape);
  EXPECT_EQ(back.read, bytes((32 + 16) * 64 * 2));
  EXPECT_EQ(back.written, bytes(16 * 64 * 2));
}

TEST(Experts, rows_may_be_scattered_by_atomic_additions) {
  const ModelGraph graph =
      tiny(", permutation: scatter", "phase: training, parallel: {data: 8, expert: 4}");
  EXPECT_TRUE(ops_named(graph, "combine_copy").empty());
  EXPECT_EQ(ops_named(graph, "experts_sum_zeros").size(), ops_named(graph, "experts_sum").size());
  EXPECT_TRUE(ops_named(graph, "dispatch_copy_backward_sort").empty());
  EXPECT_FALSE(ops_named(graph, "dispatch_copy_backward_zeros").empty());
}

// The copy between is left to the fused kernel's WGs, which send and read rows wherever they are.
TEST(Experts, are_fused_with_their_exchanges_through_the_copies_between) {
  const ModelGraph graph = tiny("", "phase: prefill, parallel: {data: 8, expert: 4}");
  const GpuSpec gpu =
      scenario_of("{" + kTiny + "}, phase: prefill, parallel: {data: 8, expert: 4}}", 1)
          .cluster.gpu;
  Names through;
  for (const Fusion& fusion : find_fusions(graph, gpu)) {
    if (fusion.through.is_none()) continue;
    through.push_back(name_of(graph, fusion));
    EXPECT_EQ(graph.ops[computing(fusion)].part, "experts");
    EXPECT_TRUE(fusion.scatters);  // chunks and copy engines would need the copy
  }
  EXPECT_EQ(through, (Names{"dispatch + dispatch_sort + experts_up",
                            "experts_down + combine_sort + combine"}));
}

TEST(Experts, divide_with_their_parts_among_the_gpus_of_a_stage) {
  const auto problems = [](const std::string& more) {
    return problems_of("{" + kTiny + "}, phase: training, parallel: {data: 8, " + more + "}}", 1);
  };
  EXPECT_EQ(problems("expert: 8, expert_tensor: 2"),
            (Names{"workload.parallel.expert_tensor: expert x expert_tensor = 16 do not divide the "
                   "8 GPUs of a stage, tensor x data; nearest: 8"}));
  // Their product is more than an int holds.
  EXPECT_EQ(problems("expert: 65536, expert_tensor: 65536").size(), 3U);
  EXPECT_EQ(problems("expert_tensor: 3"),
            (Names{"workload.parallel.expert_tensor: expert x expert_tensor = 3 do not divide the "
                   "8 GPUs of a stage, tensor x data; nearest: 2 or 4",
                   "workload.parallel.expert_tensor: 32 elements inside an expert do not divide "
                   "among 3 GPUs; nearest: 2 or 4"}));
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
  EXPECT_EQ(
      there.puts,
      (PutRows{.made_from = bytes(64 * 2), .cus = 3, .experts = 8, .at_once = 2, .packs = true}));
  EXPECT_EQ(rows_put(there, 8), Counts(64, 4));
  const auto& home = std::get<CommunicationShape>(first_named(graph, "combine").shape);
  EXPECT_EQ(home.row, bytes(64 * 2));
  EXPECT_EQ(home.puts,
            (PutRows{.made_from = bytes(64 * 2), .cus = 3, .experts = 8, .packs = false}));
  EXPECT_EQ(std::get<GemmShape>(first_named(graph, "experts_up").shape).fp8, Fp8Scales::block);
  EXPECT_EQ(std::get<GemmShape>(first_named(graph, "experts_down").shape).fp8, Fp8Scales::none);
}

// Sent once, tokens are copied for their experts where they have come, and added up there.
TEST(Experts, tokens_sent_once_are_spread_and_added_up_where_their_experts_are) {
  const ModelGraph graph =
      tiny(", exchange: once, exchange_cus: 4", "phase: prefill, parallel: {data: 8, expert: 8}");
  EXPECT_TRUE(ops_named(graph, "dispatch_copy").empty());
  EXPECT_EQ(names_after(graph, first_named(graph, "dispatch_spread")), Names{"dispatch"});
  EXPECT_EQ(names_after(graph, first_named(graph, "combine")), Names{"experts_sum_here"});
  const auto& there = std::get<CommunicationShape>(first_named(graph, "dispatch").shape);
  ASSERT_TRUE(there.puts && there.puts->reached);
  EXPECT_EQ(there.puts->cus, 4);
  EXPECT_FALSE(there.puts->home);
  // 16 tokens to 2 of 8 experts, one a GPU: 16 x (1 - 7/8 x 6/7) = 4.
  EXPECT_EQ(there.puts->reached->gpus, Counts(64, 4));
  const auto& home = std::get<CommunicationShape>(first_named(graph, "combine").shape);
  EXPECT_TRUE(home.puts->home);
  // 32 rows of 64 bf16 come to each, and each is one expert's.
  const auto& spread = std::get<StreamShape>(first_named(graph, "dispatch_spread").shape);
  EXPECT_EQ(spread.read, bytes(32 * 64 * 2));
  EXPECT_EQ(spread.written, bytes(32 * 64 * 2));
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
  EXPECT_EQ(Names(begin, begin + 15),
            (Names{"experts_sum_backward", "gradient_dispatch", "combine_sort_backward",
                   "experts_down_input_gradient", "experts_down_weight_gradient",
                   "experts_activation_backward", "experts_up_input_gradient",
                   "dispatch_sort_backward", "gradient_combine", "experts_up_weight_gradient",
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

// As published, and by how much it may differ where that is more than 1 %: half of the last digit,
// or what the comment below says.
struct Published {
  double value;
  double may_differ;
};

struct Preset {
  std::string name;
  Published parameters;
  Published active;  // with the embedding, if not `without_embedding`
  bool without_embedding;
  double products;  // weights that one token goes through, less the embedding (ours)
  double layers_of_experts;
  double hidden;
  double top_k;
};

// What a token goes through in a layer, by hand: attention with heads as elements, its experts and
// shared ones, router.
double of_layer(double hidden, double heads, double experts, double router) {
  return hidden * heads + 3 * hidden * experts + hidden * router;
}

// A layer that predicts a second token, what makes its input of two vectors, and the head again.
double deepseek_module() {
  return 7168.0 * (1536 + 576) + 1536 * 128.0 * 192 + 512 * 128.0 * 256 + 128 * 128.0 * 7168 +
         of_layer(7168, 0, 9 * 2048, 256) + 2 * 7168.0 * 7168 + 7168 * 129280.0;
}

// Mixtral: arXiv:2401.04088 and mistral.ai; DeepSeek-V3: arXiv:2412.19437; Qwen2: arXiv:2407.10671;
// Qwen3, Llama 4, gpt-oss: model cards; Kimi K2: arXiv:2507.20534. Three are further off than their
// digits: Llama 4 Scout's 109 B have 0.9 B of a vision encoder; Kimi K2's 1.04 T are 1.3 % more
// than its own config.json gives; Qwen3-30B-A3B's 3.3 B are 3.35 B.
const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"mixtral_8x7b",
       {46.7e9, 0.05e9},
       {12.9e9, 0.05e9},
       false,
       32 * of_layer(4096, 80 * 128, 2 * 14336, 8) + 4096 * 32000.0,
       32,
       4096,
       2},
      {"deepseek_v3",
       {671e9, 0.5e9},
       {37e9, 0.5e9},
       true,
       61 * (7168.0 * (1536 + 576) + 1536 * 128.0 * 192 + 512 * 128.0 * 256 + 128 * 128.0 * 7168) +
           58 * of_layer(7168, 0, 9 * 2048, 256) + 3 * 3 * 7168.0 * 18432 + 7168 * 129280.0 +
           deepseek_module(),
       58,
       7168,
       8},
      {"qwen2_57b_a14b",
       {57.4e9, 0.05e9},
       {14e9, 0.5e9},
       false,
       28 * of_layer(3584, 64 * 128, 8 * 2560 + 20480, 64) + 3584 * 151936.0,
       28,
       3584,
       8},
      {"mixtral_8x22b",
       {141e9, 0.5e9},
       {39e9, 0.5e9},
       false,
       56 * of_layer(6144, 112 * 128, 2 * 16384, 8) + 6144 * 32000.0,
       56,
       6144,
       2},
      {"llama4_scout",
       {109e9, 1.4e9},
       {17e9, 0.5e9},
       false,
       48 * of_layer(5120, 96 * 128, 2 * 8192, 16) + 5120 * 202048.0,
       48,
       5120,
       1},
      {"qwen3_30b_a3b",
       {30.5e9, 0.05e9},
       {3.3e9, 0.055e9},
       false,
       48 * of_layer(2048, 72 * 128, 8 * 768, 128) + 2048 * 151936.0,
       48,
       2048,
       8},
      {"qwen3_235b_a22b",
       {235e9, 0.5e9},
       {22e9, 0.5e9},
       false,
       94 * of_layer(4096, 136 * 128, 8 * 1536, 128) + 4096 * 151936.0,
       94,
       4096,
       8},
      {"gpt_oss_20b",
       {20.91e9, 0.005e9},
       {3.61e9, 0.005e9},
       true,
       24 * of_layer(2880, 144 * 64, 4 * 2880, 32) + 2880 * 201088.0,
       24,
       2880,
       4},
      {"gpt_oss_120b",
       {116.83e9, 0.005e9},
       {5.13e9, 0.005e9},
       true,
       36 * of_layer(2880, 144 * 64, 4 * 2880, 128) + 2880 * 201088.0,
       36,
       2880,
       4},
      {"kimi_k2",
       {1.04e12, 0.014e12},
       {32.6e9, 0.05e9},
       false,
       61 * (7168.0 * (1536 + 576) + 1536 * 64.0 * 192 + 512 * 64.0 * 256 + 64 * 128.0 * 7168) +
           60 * of_layer(7168, 0, 9 * 2048, 384) + 3 * 7168.0 * 18432 + 7168 * 163840.0,
       60,
       7168,
       8}};
  return all;
}

void expect_as_published(double found, const Published& published, const std::string& name) {
  EXPECT_NEAR(found, published.value, std::max(0.01 * published.value, published.may_differ))
      << name;
}

// The same model with only as many experts as a token goes through, and the router of all.
std::int64_t active_of(const TransformerSpec& spec) {
  TransformerSpec active = spec;
  active.moe->experts = spec.moe->top_k;
  const std::int64_t others = spec.moe->experts - spec.moe->top_k;
  const std::int64_t layers = spec.decoder.layers - spec.moe->dense_layers;
  return parameters_of(active) + layers * spec.decoder.hidden * others;
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
    const TransformerSpec& model = scenario.workload.transformer;
    expect_as_published(real(parameters_of(model)), preset.parameters, preset.name);
    const double embedding =
        preset.without_embedding ? real(embedding_weights(model.decoder, 1)) : 0;
    expect_as_published(real(active_of(model)) - embedding, preset.active, preset.name);
  }
}

// README_WEIGHTS.md of deepseek-ai/DeepSeek-V3: 11.5 G parameters besides embedding and head.
TEST(MoePresets, what_predicts_a_second_token_has_the_parameters_that_are_published) {
  const Scenario scenario = scenario_of(
      "{base: models/deepseek_v3, phase: training, sequences: 8, sequence_length: 8, microbatch: "
      "1, parallel: {data: 8, expert: 8}}",
      1);
  TransformerSpec whole = scenario.workload.transformer;
  EXPECT_EQ(whole.mtp_modules, 1);
  whole.parallel = {};
  expect_within_one_percent(real(mtp_weights(whole, 0).all()), 11.5e9);
}

// 8 GPUs of 512 tokens: sequences of 8, so that attention is below 1 % of the products.
TEST(MoePresets, training_takes_six_operations_a_weight_that_a_token_goes_through) {
  for (const Preset& preset : presets()) {
    const ModelGraph graph = built(preset,
                                   "phase: training, sequences: 512, sequence_length: 8, "
                                   "microbatch: 64, parallel: {data: 8, expert: 8}");
    expect_within_one_percent(product_flops(graph), 512 * 8 * 6 * preset.products);
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
