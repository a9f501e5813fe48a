// What the backward pass computes again (workload.recompute), by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/models/built.h"

namespace weft::recompute_test {
namespace {

using models_testing::names_after;
using models_testing::ops_named;
using models_testing::problems_of;
using models_testing::scenario_of;
using Names = std::vector<std::string>;

std::string dense(const std::string& modules, const std::string& parallel = "data: 8") {
  return "{kind: transformer, model: {layers: 2, hidden: 64, heads: 8, inner: 256, vocabulary: "
         "1000}, sequence_length: 32, microbatch: 2, phase: training, sequences: 32, parallel: {" +
         parallel + "}, recompute: selective, recompute_modules: " + modules + "}";
}
std::string experts(const std::string& modules) {
  return "{kind: moe, model: {layers: 2, hidden: 64, heads: 8, inner: 256, vocabulary: 1000, "
         "head_dim: 24, value_head_dim: 16, latent: {queries: 32, keys: 16, position: 8}}, "
         "moe: {experts: 8, top_k: 2, inner: 32, shared_inner: 32, dense_layers: 1}, "
         "sequence_length: 32, microbatch: 2, phase: training, sequences: 32, "
         "parallel: {data: 8, expert: 8}, recompute: selective, recompute_modules: " +
         modules + "}";
}
ModelGraph graph_of(const std::string& workload) { return build_model(scenario_of(workload, 1)); }

Names names_in(const ModelGraph& graph, const std::string& block) {
  Names names;
  for (const ModelOp& op : graph.ops) {
    if (!op.block.is_none() && graph.blocks[op.block].name == block) names.push_back(op.name);
  }
  return names;
}
Names names_of_layer_1(const std::string& workload) {
  return names_in(graph_of(workload), "stage 0, microbatch 0: backward of layer 1");
}
// Up to this one.
Names first_of(Names names, std::size_t count) {
  names.resize(count);
  return names;
}

// Norms first in each half of a layer, an activation before what multiplies its gradients,
// attention once its result's gradients are there.
TEST(Recompute, parts_come_before_what_needs_them) {
  EXPECT_EQ(names_of_layer_1(dense("[layernorm, activation, core_attn]")),
            (Names{"mlp_norm",
                   "mlp_activation",
                   "mlp_down_input_gradient",
                   "mlp_down_weight_gradient",
                   "mlp_activation_backward",
                   "mlp_up_input_gradient",
                   "mlp_up_weight_gradient",
                   "mlp_norm_weight_gradient",
                   "mlp_norm_backward",
                   "attn_norm",
                   "attn_out_input_gradient",
                   "attn_out_weight_gradient",
                   "attention",
                   "attention_row_sums",
                   "attention_backward",
                   "query_gradients",
                   "rotary_backward",
                   "qkv_input_gradient",
                   "qkv_weight_gradient",
                   "attn_norm_weight_gradient",
                   "attn_norm_backward"}));
}

// Megatron-LM's default.
TEST(Recompute, is_attention_alone_by_default) {
  const std::string workload =
      "{kind: transformer, model: {layers: 2, hidden: 64, heads: 8, inner: 256, vocabulary: 1000}, "
      "sequence_length: 32, microbatch: 2, phase: training, sequences: 16, parallel: {data: 8}, "
      "recompute: selective}";
  const Scenario scenario = *load_scenario_text(models_testing::text_of(workload, 1), "a.yaml",
                                                models_testing::shipped_configs())
                                 .scenario;
  const ModelGraph graph = build_model(scenario);
  EXPECT_EQ(ops_named(graph, "attention").size(), 2U * 2);
  EXPECT_EQ(ops_named(graph, "attn_norm").size(), 2U);
  EXPECT_EQ(problems_of(workload, 1),
            Names{"workload.recompute: attention's kernel keeps no scores, so core_attn, the "
                  "default, saves 4 B a head and token and computes attention once more; what "
                  "saves memory is recompute_modules: [layernorm, activation]"});
}

// Short vectors' norms, both products and the rotation; not the product that makes the vectors.
TEST(Recompute, of_latent_attention_is_what_follows_the_short_vectors) {
  const Names names = names_of_layer_1(experts("[mla_up_proj]"));
  const auto from = std::find(names.begin(), names.end(), "attn_out_weight_gradient");
  ASSERT_NE(from, names.end());
  EXPECT_EQ(first_of(Names(from + 1, names.end()), 5),
            (Names{"latent_norm", "query_up", "key_value_up", "rotary", "attention_row_sums"}));
}

// The first layer has none: its feed-forward is kept, and that of the second is computed again with
// its exchanges.
TEST(Recompute, of_experts_begins_with_the_router) {
  const ModelGraph graph = graph_of(experts("[layernorm, moe, activation]"));
  EXPECT_EQ(first_of(names_in(graph, "stage 0, microbatch 0: backward of layer 1"), 4),
            (Names{"mlp_norm", "router", "router_top_k", "dispatch_copy"}));
  EXPECT_EQ(ops_named(graph, "dispatch").size(), 2U * 2);  // of two microbatches
  EXPECT_EQ(ops_named(graph, "experts_activation").size(), 2U * 2);
  EXPECT_EQ(ops_named(graph, "shared_activation").size(), 2U * 2);
  EXPECT_EQ(ops_named(graph, "mlp_up").size(), 2U);
  EXPECT_EQ(ops_named(graph, "mlp_activation").size(), 2U * 2);  // by itself
}

// With sequence parallelism what is gathered again is the norm that is computed again.
TEST(Recompute, gathers_what_it_has_computed) {
  const ModelGraph graph =
      graph_of(dense("[layernorm, mlp]", "tensor: 4, data: 2, sequence: true"));
  for (const ModelOp* gather : ops_named(graph, "mlp_gather")) {
    EXPECT_EQ(names_after(graph, *gather), Names{"mlp_norm"});
  }
  EXPECT_EQ(first_of(names_in(graph, "stage 0, microbatch 0: backward of layer 1"), 3),
            (Names{"mlp_norm", "mlp_gather", "mlp_up"}));
}

// Where gradients of weights are made later, norms and activations are needed then.
TEST(Recompute, of_norms_waits_for_the_gradients_of_weights) {
  const ModelGraph graph =
      graph_of(dense("[layernorm, activation]", "pipeline: 2, data: 4, schedule: zb_h1"));
  const Names inputs = names_in(graph, "stage 1, microbatch 0: backward of layer 1");
  EXPECT_EQ(inputs.at(0), "mlp_down_input_gradient");
  const Names weights =
      names_in(graph, "stage 1, microbatch 0: gradients of the weights of layer 1");
  EXPECT_EQ(weights, (Names{"mlp_norm", "mlp_activation", "mlp_down_weight_gradient",
                            "mlp_up_weight_gradient", "attn_norm", "attn_out_weight_gradient",
                            "qkv_weight_gradient"}));
}

// Of two layers' feed-forwards the products, 6 x 64 x 256 a token, are the hardware's only.
TEST(Recompute, adds_products_to_those_of_the_hardware) {
  const auto flops = [](const std::string& modules) {
    return models_testing::product_flops_of_a_gpu(graph_of(dense(modules)));
  };
  const double tokens = 2 * 64;  // of two microbatches
  EXPECT_DOUBLE_EQ(flops("[mlp]") - flops("[layernorm, activation]"), 2 * tokens * 6 * 64 * 256);
}

TEST(Recompute, of_parts_that_are_not_there_is_refused) {
  EXPECT_EQ(problems_of(dense("[mla_up_proj, moe]"), 1),
            (Names{"workload.recompute_modules: mla_up_proj: only of models with latent; remove it",
                   "workload.recompute_modules: moe: only of kind moe; did you mean mlp?"}));
  EXPECT_EQ(problems_of("{base: models/mixtral_8x7b, phase: training, sequence_length: 8, "
                        "sequences: 8, microbatch: 1, parallel: {data: 8, expert: 8}, recompute: "
                        "selective, recompute_modules: [mlp]}",
                        1),
            Names{"workload.recompute_modules: mlp: every layer has experts (moe.dense_layers: 0); "
                  "did you mean moe?"});
}

}  // namespace
}  // namespace weft::recompute_test
