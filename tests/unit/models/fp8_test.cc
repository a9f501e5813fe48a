// Layers in fp8: what casts read and write, what is sent, what stays in the model's type.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/models/casts.h"
#include "tests/unit/models/built.h"

namespace weft::fp8_test {
namespace {

using models_testing::buffer_of;
using models_testing::first_named;
using models_testing::names_of;
using models_testing::ops_named;
using models_testing::problems_of;
using models_testing::scenario_of;

// Each of eight GPUs has 64 tokens of 32 elements; a feed-forward of 3 x 32 x 128 weights.
std::string model(const std::string& more, const std::string& parallel = "data: 8") {
  return "{kind: transformer, phase: training, model: {layers: 2, hidden: 32, heads: 8, kv_heads: "
         "8, inner: 128, vocabulary: 1000}, sequence_length: 64, microbatch: 1, sequences: 16, "
         "parallel: {" +
         parallel + "}, " + more + "}";
}

ModelGraph built(const std::string& more, const std::string& parallel = "data: 8") {
  return build_model(scenario_of(model(more, parallel), 1));
}

const StreamShape& stream_named(const ModelGraph& graph, const std::string& name) {
  return std::get<StreamShape>(first_named(graph, name).shape);
}

Fp8Scales scales_of(const ModelGraph& graph, const std::string& name) {
  return std::get<GemmShape>(first_named(graph, name).shape).fp8;
}

TEST(Fp8, is_the_type_of_layers_and_not_of_the_head) {
  const ModelGraph graph = built("fp8: tensor");
  for (const char* name : {"qkv", "attn_out", "mlp_up", "mlp_down"}) {
    for (const char* of : {"", "_input_gradient", "_weight_gradient"}) {
      EXPECT_EQ(scales_of(graph, std::string(name) + of), Fp8Scales::tensor) << name << of;
      EXPECT_EQ(std::get<GemmShape>(first_named(graph, std::string(name) + of).shape).layout,
                GemmLayout::linear);
    }
  }
  EXPECT_EQ(scales_of(graph, "head"), Fp8Scales::none);
  EXPECT_EQ(scales_of(graph, "head_weight_gradient"), Fp8Scales::none);
}

TEST(Fp8, is_nowhere_unless_asked_for) {
  for (const std::string& name : names_of(built("fp8: none"))) {
    EXPECT_EQ(name.find("_cast"), std::string::npos) << name;
  }
}

// 64 tokens of 128 elements in bf16 are read for the largest, and again to be cast twice.
TEST(Fp8, by_tensor_finds_the_largest_then_casts_for_both_products) {
  const ModelGraph graph = built("fp8: tensor");
  const Bytes input = bytes(64 * 128 * 2);
  EXPECT_EQ(stream_named(graph, "mlp_down_input_largest").read, input);
  EXPECT_EQ(stream_named(graph, "mlp_down_input_largest").written, Bytes{});
  EXPECT_EQ(stream_named(graph, "mlp_down_input_cast").read, input);
  EXPECT_EQ(stream_named(graph, "mlp_down_input_cast").written, bytes(2 * 64 * 128));
  EXPECT_EQ(stream_named(graph, "mlp_up_gradient_cast").written, bytes(2 * 64 * 256));
  EXPECT_EQ(stream_named(graph, "mlp_up_weights_cast").read, bytes(32 * 256 * 2));
}

TEST(Fp8, scales_of_earlier_steps_need_no_largest_element) {
  const ModelGraph graph = built("fp8: tensor, fp8_scaling: delayed");
  EXPECT_TRUE(ops_named(graph, "mlp_down_input_largest").empty());
  EXPECT_EQ(stream_named(graph, "mlp_down_input_cast").written, bytes(2 * 64 * 128));
  EXPECT_EQ(ops_named(graph, "mlp_down_input_cast").size(),
            ops_named(built("fp8: tensor"), "mlp_down_input_cast").size());
}

// Scales along the tokens are others than along the features: each column's largest comes first.
// Then one kernel reads a row twice, for its largest and to cast it, and writes both copies.
TEST(Fp8, by_row_casts_both_copies_at_once_after_the_largest_of_each_column) {
  const ModelGraph graph = built("fp8: row");
  EXPECT_EQ(stream_named(graph, "mlp_down_input_largest_down").read, bytes(64 * 128 * 2));
  EXPECT_EQ(stream_named(graph, "mlp_down_input_cast").read, bytes(2 * 64 * 128 * 2));
  EXPECT_EQ(stream_named(graph, "mlp_down_input_cast").written, bytes(2 * 64 * 128));
  EXPECT_GT(stream_named(graph, "mlp_down_input_cast").instructions, 64 * 128);
  EXPECT_TRUE(ops_named(graph, "mlp_down_input_cast_transposed").empty());
  EXPECT_TRUE(ops_named(graph, "mlp_down_input_largest").empty());
}

// 128 x 128 weights have a scale whichever way they are read.
TEST(Fp8, by_block_casts_weights_once_for_both) {
  const ModelGraph graph = built("fp8: block");
  EXPECT_EQ(stream_named(graph, "mlp_up_weights_cast").written, bytes(2 * 32 * 256));
  EXPECT_TRUE(ops_named(graph, "mlp_up_weights_cast_transposed").empty());
  EXPECT_FALSE(ops_named(graph, "mlp_up_input_cast_transposed").empty());
}

Fp8Sums sums_of(const ModelGraph& graph, const std::string& name) {
  return std::get<GemmShape>(first_named(graph, name).shape).sums;
}

TEST(Fp8, sums_of_gradients_are_kept_in_fp32_and_by_block_all) {
  EXPECT_EQ(sums_of(built("fp8: row"), "qkv"), Fp8Sums::fast);
  EXPECT_EQ(sums_of(built("fp8: row"), "qkv_input_gradient"), Fp8Sums::in_fp32);
  const ModelGraph graph = built("fp8: block");
  EXPECT_EQ(sums_of(graph, "qkv"), Fp8Sums::in_fp32);
  EXPECT_EQ(sums_of(graph, "qkv_input_gradient"), Fp8Sums::in_fp32);
  EXPECT_EQ(sums_of(graph, "qkv_weight_gradient"), Fp8Sums::in_fp32_of_two_blocks);
}

// Two microbatches, two layers.
TEST(Fp8, weights_are_cast_once_a_step_unless_they_are_gathered) {
  EXPECT_EQ(ops_named(built("fp8: tensor"), "qkv_input_cast").size(), 4U);
  EXPECT_EQ(ops_named(built("fp8: tensor"), "qkv_weights_cast").size(), 2U);
  const ModelGraph sharded = built("fp8: tensor", "data: 8, shard: parameters");
  EXPECT_EQ(ops_named(sharded, "qkv_weights_cast").size(), 8U);  // forward and backward
  EXPECT_EQ(stream_named(sharded, "qkv_weights_cast").written, bytes(32 * 96));  // for one product
}

// Of 64 tokens a GPU has 16: it casts these, gathers 64 of 32 B, and transposes all for the
// gradient of the weights, by row once it knows the largest of each column.
TEST(Fp8, tokens_are_cast_before_they_are_gathered) {
  const std::string shared = "tensor: 4, data: 2, sequence: true";
  const ModelGraph graph = built("fp8: tensor", shared);
  EXPECT_EQ(stream_named(graph, "mlp_up_input_cast").written, bytes(16 * 32));
  EXPECT_EQ(buffer_of(first_named(graph, "mlp_gather")), bytes(64 * 32));
  EXPECT_EQ(buffer_of(first_named(graph, "mlp_gather_again")), bytes(64 * 32));
  EXPECT_EQ(stream_named(graph, "mlp_up_input_transpose").read, bytes(64 * 32));
  EXPECT_EQ(buffer_of(first_named(graph, "mlp_down_reduce")), bytes(64 * 32 * 2));
  EXPECT_TRUE(ops_named(graph, "mlp_up_input_largest_down").empty());
  EXPECT_EQ(stream_named(built("fp8: row", shared), "mlp_up_input_largest_down").read,
            bytes(64 * 32));
}

TEST(Fp8, answers_have_their_weights_in_it) {
  const Scenario scenario = scenario_of(
      "{kind: transformer, phase: prefill, model: {layers: 2, hidden: 32, heads: 8, kv_heads: 8, "
      "inner: 128, vocabulary: 1000}, sequence_length: 64, microbatch: 1, sequences: 8, parallel: "
      "{data: 8}, fp8: tensor}",
      1);
  const ModelGraph graph = build_model(scenario);
  EXPECT_TRUE(ops_named(graph, "qkv_weights_cast").empty());
  EXPECT_EQ(stream_named(graph, "qkv_input_cast").written, bytes(64 * 32));
}

// 8 tokens of each GPU go to one of two experts there; what comes as fp8 is not cast again.
TEST(Fp8, rows_of_experts_are_cast_where_they_come_unless_they_come_so) {
  const auto experts = [](const std::string& dispatch) {
    return build_model(scenario_of(
        "{kind: moe, phase: training, model: {layers: 1, hidden: 32, heads: 8, kv_heads: 8, "
        "vocabulary: 1000}, moe: {experts: 16, top_k: 1, inner: 128, dispatch_dtype: " +
            dispatch +
            "}, sequence_length: 8, microbatch: 1, sequences: 8, parallel: {data: 8, expert: 8}, "
            "fp8: block}",
        1));
  };
  const ModelGraph graph = experts("model");
  EXPECT_EQ(scales_of(graph, "experts_down_weight_gradient"), Fp8Scales::block);
  EXPECT_EQ(scales_of(graph, "router"), Fp8Scales::none);
  EXPECT_EQ(stream_named(graph, "experts_up_input_cast").read, bytes(8 * 32 * 2));
  EXPECT_EQ(stream_named(graph, "experts_down_weights_cast").read, bytes(2 * 32 * 128 * 2));
  const ModelGraph sent = experts("fp8");
  EXPECT_TRUE(ops_named(sent, "experts_up_input_cast").empty());
  EXPECT_EQ(stream_named(sent, "experts_up_input_transpose").read, bytes(8 * 32));
}

// The first forward pass keeps nothing for the backward pass, whose own forward pass casts both.
TEST(Fp8, of_layers_that_are_computed_again_is_cast_for_the_gradients_only_then) {
  const ModelGraph graph = built("fp8: tensor, recompute: layer");
  const std::vector<const ModelOp*> casts = ops_named(graph, "mlp_down_input_cast");
  ASSERT_EQ(casts.size(), 8U);  // two microbatches, two layers, twice
  EXPECT_EQ(std::get<StreamShape>(casts.front()->shape).written, bytes(64 * 128));
  EXPECT_EQ(std::get<StreamShape>(casts.back()->shape).written, bytes(2 * 64 * 128));
}

TEST(Fp8, what_is_computed_again_by_itself_is_cast_again) {
  const ModelGraph graph =
      built("fp8: block, recompute: selective, recompute_modules: [layernorm, activation]");
  for (const char* name : {"qkv_input", "mlp_up_input", "mlp_down_input"}) {
    EXPECT_EQ(ops_named(graph, std::string(name) + "_cast").size(), 4U) << name;
    EXPECT_EQ(ops_named(graph, std::string(name) + "_cast_transposed").size(), 8U) << name;
  }
}

TEST(Fp8, is_not_that_of_what_predicts_further_tokens_from_two_vectors) {
  const ModelGraph graph = build_model(scenario_of(
      "{kind: transformer, phase: training, model: {layers: 2, hidden: 32, heads: 8, kv_heads: 8, "
      "inner: 128, vocabulary: 1000, mtp_layers: 1}, sequence_length: 64, microbatch: 1, "
      "sequences: 8, parallel: {data: 8}, fp8: tensor}",
      1));
  EXPECT_EQ(scales_of(graph, "mtp_projection"), Fp8Scales::none);
  EXPECT_EQ(scales_of(graph, "mtp_projection_weight_gradient"), Fp8Scales::none);
  EXPECT_TRUE(ops_named(graph, "mtp_projection_input_cast").empty());
}

TEST(Fp8, of_tokens_by_block_is_not_multiplied_by_tensor) {
  const std::vector<std::string> problems = problems_of(
      "{kind: moe, phase: training, model: {layers: 1, hidden: 32, heads: 8, kv_heads: 8, "
      "vocabulary: 1000}, moe: {experts: 16, top_k: 1, inner: 128, dispatch_dtype: fp8}, "
      "sequence_length: 8, microbatch: 1, sequences: 8, parallel: {data: 8, expert: 8}, fp8: "
      "tensor}",
      1);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].substr(0, 31), "workload.moe.dispatch_dtype: fp");
}

TEST(Fp8, needs_a_gpu_that_multiplies_it) {
  const std::string on_a100 =
      "{name: a, cluster: {base: clusters/node_8x_a100, gpu: {memory: {capacity: "
      "100 TB}}}, workload: " +
      model("fp8: row") + "}";
  const Loaded loaded = load_scenario_text(on_a100, "a.yaml", models_testing::shipped_configs());
  EXPECT_NE(loaded.problems.to_text().find("the GPU's matrix units have no fp8"), std::string::npos)
      << loaded.problems.to_text();
}

}  // namespace
}  // namespace weft::fp8_test
