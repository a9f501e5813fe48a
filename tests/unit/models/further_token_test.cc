// Modules that predict further tokens (model.mtp_layers), by hand.
#include "sim/models/further_token.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/scenario/decoder_memory.h"
#include "tests/unit/models/built.h"

namespace weft::further_token_test {
namespace {

using models_testing::buffer_of;
using models_testing::first_named;
using models_testing::names_after;
using models_testing::ops_named;
using models_testing::problems_of;
using models_testing::scenario_of;
using Names = std::vector<std::string>;

std::string tiny(const std::string& parallel, int modules = 1,
                 const std::string& phase = "training", const std::string& more = "") {
  return "{kind: transformer, model: {layers: 2, hidden: 64, heads: 8, kv_heads: 4, inner: 256, "
         "vocabulary: 1000" +
         (modules > 0 ? ", mtp_layers: " + std::to_string(modules) : "") + more +
         "}, sequence_length: 32, microbatch: 2, sequences: 32, phase: " + phase + ", parallel: {" +
         parallel + "}}";
}
Scenario scenario(const std::string& parallel, int modules = 1,
                  const std::string& phase = "training", const std::string& more = "") {
  return scenario_of(tiny(parallel, modules, phase, more), 1);
}

// Queries and output, keys and values, three matrices, two norms; vocabulary; the module's product,
// norms of both inputs and the last one.
constexpr std::int64_t kLayer = 64 * 64 + 2 * 64 * 32 + 64 * 64 + 3 * 64 * 256 + 2 * 64;
constexpr std::int64_t kVocabulary = 64 * 1000;
constexpr std::int64_t kModule = kLayer + 2 * 64 * 64 + 3 * 64;

Names names_in(const ModelGraph& graph, const std::string& block) {
  Names names;
  for (const ModelOp& op : graph.ops) {
    if (!op.block.is_none() && graph.blocks[op.block].name == block) names.push_back(op.name);
  }
  return names;
}

TEST(FurtherToken, is_a_layer_and_the_head_once_more) {
  const ModelGraph graph = build_model(scenario("data: 8"));
  EXPECT_EQ(names_in(graph, "stage 0, microbatch 0: module 0 of further tokens"),
            (Names{"token_embedding", "mtp_norm", "mtp_projection", "attn_norm", "qkv", "rotary",
                   "attention", "attn_out", "attn_residual", "mlp_norm", "mlp_up", "mlp_activation",
                   "mlp_down", "mlp_residual", "final_norm", "head", "loss", "loss_gradient"}));
  const Names back =
      names_in(graph, "stage 0, microbatch 0: backward of module 0 of further tokens");
  EXPECT_EQ(back.front(), "head_input_gradient");
  EXPECT_EQ(Names(back.end() - 6, back.end()),
            (Names{"attn_norm_backward", "mtp_projection_input_gradient",
                   "mtp_projection_weight_gradient", "mtp_norm_weight_gradient",
                   "mtp_norm_backward", "token_embedding_backward"}));
  EXPECT_EQ(names_in(graph, "stage 0, microbatch 0: backward of the head").back(),
            "mtp_gradient_add");
  // Two vectors of each of 64 tokens become one.
  const auto& product = std::get<GemmShape>(first_named(graph, "mtp_projection").shape);
  EXPECT_EQ(product.m, 64);
  EXPECT_EQ(product.k, 2 * 64);
  EXPECT_EQ(product.n, 64);
}

// The second begins with the first one's vectors, whose gradients it adds to.
TEST(FurtherToken, modules_follow_one_another) {
  const ModelGraph graph = build_model(scenario("data: 8", 2));
  EXPECT_EQ(ops_named(graph, "mtp_projection").size(), 2U * 2);  // of two microbatches
  EXPECT_EQ(ops_named(graph, "head").size(), 3U * 2);
  EXPECT_EQ(names_in(graph, "stage 0, microbatch 0: backward of module 0 of further tokens").at(4),
            "mtp_gradient_add");
  EXPECT_EQ(ops_named(graph, "mtp_gradient_add").size(), 2U * 2);
}

// A GPU has 16 of 64 columns; inputs are 2 x 64 tokens x 64 elements of 2 B, results half of that.
TEST(FurtherToken, shares_its_product_by_columns) {
  const ModelGraph graph = build_model(scenario("tensor: 4, data: 2, sequence: true"));
  EXPECT_EQ(std::get<GemmShape>(first_named(graph, "mtp_projection").shape).n, 16);
  const auto buffer = [&](const char* name) { return buffer_of(first_named(graph, name)); };
  EXPECT_EQ(buffer("mtp_gather"), bytes(2 * 64 * 64 * 2));
  EXPECT_EQ(buffer("mtp_projection_gather"), bytes(64 * 64 * 2));
  EXPECT_EQ(buffer("mtp_projection_gradient_gather"), bytes(64 * 64 * 2));
  EXPECT_EQ(buffer("mtp_gather_again"), bytes(2 * 64 * 64 * 2));
  EXPECT_EQ(buffer("mtp_gradient_reduce"), bytes(2 * 64 * 64 * 2));
  EXPECT_EQ(std::get<CommunicationShape>(first_named(graph, "mtp_gradient_reduce").shape).op,
            CollectiveOp::reduce_scatter);
  // Without, all tokens are on all GPUs.
  const ModelGraph whole = build_model(scenario("tensor: 4, data: 2"));
  EXPECT_TRUE(ops_named(whole, "mtp_gather").empty());
  EXPECT_TRUE(ops_named(whole, "mtp_projection_gradient_gather").empty());
  EXPECT_EQ(std::get<CommunicationShape>(first_named(whole, "mtp_gradient_reduce").shape).op,
            CollectiveOp::all_reduce);
}

// The last stage has a copy of the embedding, and both ends sum its gradients, unless they are on
// the same stage.
TEST(FurtherToken, shares_the_embedding_of_the_first_stage) {
  const ModelGraph graph = build_model(scenario("pipeline: 2, data: 4"));
  EXPECT_TRUE(names_in(graph, "stage 0, microbatch 0: module 0 of further tokens").empty());
  EXPECT_EQ(names_in(graph, "stage 1, microbatch 0: module 0 of further tokens").size(), 18U);
  const ModelOp& sum = first_named(graph, "tied_gradient_sum");
  EXPECT_EQ(buffer_of(sum), bytes(kVocabulary * 4));
  EXPECT_EQ(graph.places[sum.place].groups.at(0), (std::vector<std::uint32_t>{0, 4}));
  EXPECT_TRUE(ops_named(build_model(scenario("data: 8")), "tied_gradient_sum").empty());
}

// Sums over copies: module, head (with the embedding's copy), each layer, the embedding.
TEST(FurtherToken, gradients_are_summed_before_those_of_the_head) {
  const ModelGraph graph = build_model(scenario("data: 8"));
  const std::vector<const ModelOp*> sums = ops_named(graph, "gradient_sum");
  ASSERT_EQ(sums.size(), 5U);
  EXPECT_EQ(buffer_of(*sums[0]), bytes(kModule * 4));
  EXPECT_EQ(buffer_of(*sums[1]), bytes((kVocabulary + 64) * 4));
  const ModelGraph stages = build_model(scenario("pipeline: 2, data: 4"));
  EXPECT_EQ(buffer_of(*ops_named(stages, "gradient_sum").at(1)), bytes((2 * kVocabulary + 64) * 4));
}

TEST(FurtherToken, trains_only) {
  EXPECT_EQ(to_text(build_model(scenario("data: 8", 1, "prefill"))),
            to_text(build_model(scenario("data: 8", 0, "prefill"))));
  EXPECT_EQ(fullest_gpu(scenario("data: 8", 1, "decode").workload).all(),
            fullest_gpu(scenario("data: 8", 0, "decode").workload).all());
}

// Of a token: a layer keeps 4 x 64 elements, heads, three of the inner size, 4 B a head; the module
// three vectors besides; each head two and the logits in bf16 and fp32. On the last of two stages.
TEST(FurtherToken, keeps_a_layer_its_inputs_and_logits) {
  const MemoryUse with = fullest_gpu(scenario("data: 8").workload);
  const MemoryUse without = fullest_gpu(scenario("data: 8", 0).workload);
  constexpr double kKept = 2 * (4 * 64 + 2 * 64 + 2 * 32 + 3 * 256) + 4 * 8;
  EXPECT_EQ(with.activations - without.activations, 64 * (kKept + 2 * 3 * 64));
  EXPECT_EQ(with.logits, 2 * without.logits);
  EXPECT_EQ(with.weights - without.weights, 2.0 * kModule);
  const MemoryUse last = fullest_gpu(scenario("pipeline: 2, data: 4").workload);
  EXPECT_EQ(last.stage, 1);
  EXPECT_EQ(last.weights, 2.0 * (kLayer + kModule + 2 * kVocabulary + 64));
}

// 1,024 tokens through a layer (products: without norms), 2 h^2 and the head, three times; pairs of
// 32 sequences of 32 tokens in 8 heads.
TEST(FurtherToken, is_work_of_the_model) {
  const auto flops = [](int modules) {
    const Scenario made = scenario("data: 8", modules);
    return work_of_step(made, build_model(made)).value_or(StepWork{});
  };
  const double products = 2.0 * 1'024 * (kLayer - 2 * 64 + 2 * 64 * 64 + kVocabulary);
  const double attention = 2.0 * 32 * 528 * 8 * (8 + 8);
  EXPECT_DOUBLE_EQ(flops(1).model_flops - flops(0).model_flops, 3 * (products + attention));
  EXPECT_DOUBLE_EQ(flops(1).hardware_flops - flops(0).hardware_flops,
                   3 * products + 3.5 * attention);
}

TEST(FurtherToken, needs_columns_for_each_gpu_and_whole_parameters) {
  EXPECT_EQ(problems_of("{kind: transformer, model: {layers: 2, hidden: 60, heads: 8, head_dim: 8, "
                        "inner: 256, vocabulary: 1000, mtp_layers: 1}, sequence_length: 32, "
                        "microbatch: 2, sequences: 32, phase: training, parallel: {tensor: 8}}",
                        1),
            Names{"workload.model.hidden: 60 elements do not divide among 8 tensor-parallel GPUs, "
                  "which share the product of mtp_layers; nearest: 56 or 64"});
  EXPECT_EQ(problems_of(tiny("data: 8, shard: parameters"), 1),
            Names{"workload.parallel.shard: parameters: not with model.mtp_layers, whose gathers "
                  "are not modelled; use shard: gradients, or 'mtp_layers: ~'"});
}

}  // namespace
}  // namespace weft::further_token_test
