// A small decoder as operators, by hand.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "sim/models/streams.h"
#include "sim/scenario/decoder_size.h"
#include "tests/unit/models/built.h"

namespace weft::transformer_test {
namespace {

using models_testing::buffer_of;
using models_testing::first_named;
using models_testing::names_after;
using models_testing::names_of;
using models_testing::ops_named;
using models_testing::scenario_of;

const std::string kTiny =
    "kind: transformer, model: {layers: 2, hidden: 64, heads: 8, kv_heads: 4, inner: 256, "
    "vocabulary: 1000}, sequence_length: 32, microbatch: 2, ";

ModelGraph tiny(const std::string& more, int nodes = 1) {
  return build_model(scenario_of("{" + kTiny + more + "}", nodes));
}

// Tied, and with as many layers as two stages of two virtual stages need.
ModelGraph four_layers(const std::string& more) {
  return build_model(scenario_of(
      "{kind: transformer, model: {layers: 4, hidden: 64, heads: 8, kv_heads: 4, inner: "
      "256, vocabulary: 1000, tied: true}, sequence_length: 32, microbatch: 2, phase: "
      "training, " +
          more + "}",
      1));
}

std::vector<std::string> names_in(const ModelGraph& graph, const std::string& block) {
  std::vector<std::string> names;
  for (const ModelOp& op : graph.ops) {
    if (!op.block.is_none() && graph.blocks[op.block].name == block) names.push_back(op.name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(Transformer, a_layer_without_sequence_parallelism_has_two_all_reduces) {
  const ModelGraph graph = tiny("phase: prefill, sequences: 2, parallel: {tensor: 8}");
  EXPECT_EQ(names_in(graph, "stage 0, microbatch 0: forward of layer 1"),
            (Names{"attn_norm", "qkv", "rotary", "attention", "attn_out", "attn_out_reduce",
                   "attn_residual", "mlp_norm", "mlp_up", "mlp_activation", "mlp_down",
                   "mlp_down_reduce", "mlp_residual"}));
  const ModelOp& reduce = first_named(graph, "mlp_down_reduce");
  EXPECT_EQ(names_after(graph, reduce), Names{"mlp_down"});
  EXPECT_EQ(reduce.part, "all_reduce");
  EXPECT_EQ(reduce.stream, kCritical);
  EXPECT_EQ(reduce.place, first_named(graph, "mlp_down").place);
  EXPECT_EQ(buffer_of(reduce), bytes(2 * 32 * 64 * 2));
  EXPECT_EQ(names_after(graph, first_named(graph, "mlp_residual")), Names{"mlp_down_reduce"});
  EXPECT_EQ(names_after(graph, first_named(graph, "mlp_activation")), Names{});
}

// A mask of a byte for each of 2 x 32 x 64 elements of 2 B: written where the sum is, read where
// the gradient leaves the sum for what was dropped.
TEST(Transformer, what_halves_of_a_layer_add_is_dropped_by_masks) {
  const ModelGraph graph =
      build_model(scenario_of("{" + kTiny.substr(0, kTiny.find("vocabulary")) + "dropout: true, " +
                                  kTiny.substr(kTiny.find("vocabulary")) +
                                  "phase: training, sequences: 2, parallel: {tensor: 8}}",
                              1));
  constexpr int kElements = 2 * 32 * 64;
  const auto shape_of = [&graph](const char* name) {
    return std::get<StreamShape>(first_named(graph, name).shape);
  };
  EXPECT_EQ(shape_of("attn_residual").read, bytes(2 * 2 * kElements));
  EXPECT_EQ(shape_of("attn_residual").written, bytes(2 * kElements + kElements));
  EXPECT_EQ(shape_of("token_embedding_dropout").written, bytes(2 * kElements + kElements));
  for (const char* name :
       {"mlp_dropout_backward", "attn_dropout_backward", "token_embedding_dropout_backward"}) {
    EXPECT_EQ(shape_of(name).read, bytes(2 * kElements + kElements)) << name;
    EXPECT_EQ(shape_of(name).written, bytes(2 * kElements)) << name;
  }
  const ModelGraph plain = tiny("phase: training, sequences: 2, parallel: {tensor: 8}");
  EXPECT_TRUE(ops_named(plain, "mlp_dropout_backward").empty());
  EXPECT_EQ(std::get<StreamShape>(first_named(plain, "attn_residual").shape).written,
            bytes(2 * kElements));
}

TEST(Transformer, a_layer_with_sequence_parallelism_gathers_and_scatters) {
  const ModelGraph graph =
      tiny("phase: prefill, sequences: 2, parallel: {tensor: 8, sequence: true}");
  EXPECT_EQ(names_in(graph, "stage 0, microbatch 0: forward of layer 1"),
            (Names{"attn_norm", "attn_gather", "qkv", "rotary", "attention", "attn_out",
                   "attn_out_reduce", "attn_residual", "mlp_norm", "mlp_gather", "mlp_up",
                   "mlp_activation", "mlp_down", "mlp_down_reduce", "mlp_residual"}));
  EXPECT_EQ(names_after(graph, first_named(graph, "attn_gather")), Names{"attn_norm"});
  EXPECT_EQ(names_after(graph, first_named(graph, "qkv")), Names{"attn_gather"});
  EXPECT_EQ(first_named(graph, "mlp_down_reduce").part, "reduce_scatter");
  EXPECT_EQ(first_named(graph, "attn_gather").part, "all_gather");
  EXPECT_EQ(buffer_of(first_named(graph, "attn_gather")), bytes(2 * 32 * 64 * 2));
  // The norm has an eighth of the tokens.
  EXPECT_EQ(std::get<StreamShape>(first_named(graph, "attn_norm").shape).read,
            bytes(2 * 4 * 64 * 2));
}

TEST(Transformer, the_way_back_adds_up_beside_the_gradient_of_the_weights) {
  const ModelGraph graph =
      tiny("phase: training, sequences: 4, parallel: {tensor: 8, sequence: true}");
  EXPECT_EQ(
      names_in(graph, "stage 0, microbatch 0: backward of layer 0"),
      (Names{"mlp_down_gradient_gather",  "mlp_down_input_gradient",  "mlp_down_weight_gradient",
             "mlp_activation_backward",   "mlp_gather_again",         "mlp_up_input_gradient",
             "mlp_gradient_reduce",       "mlp_up_weight_gradient",   "mlp_norm_weight_gradient",
             "mlp_norm_backward",         "attn_out_gradient_gather", "attn_out_input_gradient",
             "attn_out_weight_gradient",  "attention_row_sums",       "attention_backward",
             "query_gradients",           "rotary_backward",          "attn_gather_again",
             "qkv_input_gradient",        "attn_gradient_reduce",     "qkv_weight_gradient",
             "attn_norm_weight_gradient", "attn_norm_backward"}));
  EXPECT_EQ(names_after(graph, first_named(graph, "mlp_down_input_gradient")),
            Names{"mlp_down_gradient_gather"});
  EXPECT_EQ(names_after(graph, first_named(graph, "mlp_up_weight_gradient")),
            Names{"mlp_gather_again"});
  EXPECT_EQ(names_after(graph, first_named(graph, "mlp_gradient_reduce")),
            Names{"mlp_up_input_gradient"});
  EXPECT_EQ(names_after(graph, first_named(graph, "mlp_norm_weight_gradient")),
            (Names{"mlp_gather_again", "mlp_gradient_reduce"}));
}

TEST(Transformer, shapes_of_a_layer_are_as_computed_by_hand) {
  const ModelGraph graph = tiny("phase: prefill, sequences: 4, parallel: {tensor: 4, data: 2}");
  const auto gemm = [&](const char* name) {
    return std::get<GemmShape>(first_named(graph, name).shape);
  };
  // 2 of 8 heads of queries and 1 of 4 of keys and of values, of 8; 64 tokens.
  EXPECT_EQ(gemm("qkv").m, 64);
  EXPECT_EQ(gemm("qkv").n, (2 + 1 + 1) * 8);
  EXPECT_EQ(gemm("qkv").k, 64);
  EXPECT_EQ(gemm("attn_out").k, 2 * 8);
  EXPECT_EQ(gemm("mlp_up").n, 2 * 64);
  EXPECT_EQ(gemm("mlp_down").k, 64);
  EXPECT_EQ(gemm("head").m, 2);
  EXPECT_EQ(gemm("head").n, 250);
  const auto& attention = std::get<AttentionShape>(first_named(graph, "attention").shape);
  EXPECT_EQ(attention.batch, 2);
  EXPECT_EQ(attention.heads, 2);
  EXPECT_EQ(attention.kv_heads, 1);
  EXPECT_EQ(attention.queries, 32);
  EXPECT_EQ(attention.keys, 32);
  EXPECT_EQ(graph.places[first_named(graph, "qkv").place].groups,
            (std::vector<std::vector<std::uint32_t>>{{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

TEST(Transformer, one_more_token_is_a_product_of_as_many_rows_as_sequences) {
  const ModelGraph graph = tiny("phase: decode, sequences: 2, parallel: {tensor: 8}");
  EXPECT_EQ(std::get<GemmShape>(first_named(graph, "mlp_up").shape).m, 2);
  const auto& attention = std::get<AttentionShape>(first_named(graph, "attention").shape);
  EXPECT_EQ(attention.queries, 1);
  EXPECT_EQ(attention.keys, 32);
  EXPECT_EQ(buffer_of(first_named(graph, "mlp_down_reduce")), bytes(2 * 64 * 2));
  // Heads of keys and values are fewer than GPUs: each has one whole.
  EXPECT_EQ(std::get<GemmShape>(first_named(graph, "qkv").shape).n, 3 * 8);
}

// Of four layers the second and fourth see all of 32 tokens, the others the last 8.
TEST(Transformer, layers_with_a_window_alternate_with_others) {
  const std::string model =
      "{kind: transformer, model: {layers: 4, hidden: 64, heads: 8, inner: 256, vocabulary: 1000, "
      "window: 8, full_every: 2}, sequence_length: 32, microbatch: 2, sequences: 16, "
      "parallel: {data: 8}, phase: ";
  const auto windows = [&](const std::string& phase, const char* name) {
    std::vector<std::int64_t> found;
    const ModelGraph graph = build_model(scenario_of(model + phase + "}", 1));
    for (const ModelOp* op : ops_named(graph, name)) {
      const auto& shape = std::get<AttentionShape>(op->shape);
      EXPECT_EQ(shape.keys, 32);
      found.push_back(shape.window);
    }
    return found;
  };
  using Windows = std::vector<std::int64_t>;
  EXPECT_EQ(windows("training", "attention"), (Windows{8, 0, 8, 0}));
  EXPECT_EQ(windows("training", "attention_backward"), (Windows{0, 8, 0, 8}));
  EXPECT_EQ(windows("decode", "attention"), (Windows{8, 0, 8, 0}));
}

// Layers that see all there is are alike.
TEST(Transformer, a_window_of_all_tokens_is_none) {
  const std::string step = "phase: prefill, sequences: 2, parallel: {tensor: 8}";
  EXPECT_EQ(to_text(build_model(scenario_of("{kind: transformer, model: {layers: 2, hidden: 64, "
                                            "heads: 8, kv_heads: 4, inner: 256, vocabulary: 1000, "
                                            "window: 32}, sequence_length: 32, microbatch: 2, " +
                                                step + "}",
                                            1))),
            to_text(tiny(step)));
}

TEST(Transformer, layers_are_computed_again_where_they_are_not_kept) {
  const std::string step = "phase: training, sequences: 16, parallel: {data: 8}";
  const ModelGraph kept = tiny(step);
  const ModelGraph again = tiny(step + ", recompute: layer");
  EXPECT_EQ(ops_named(kept, "mlp_up").size(), 2U);
  EXPECT_EQ(ops_named(again, "mlp_up").size(), 4U);
  EXPECT_EQ(names_in(again, "stage 0, microbatch 0: backward of layer 1").at(1), "attn_norm");
}

TEST(Transformer, gradients_are_added_up_beside_the_next_layers_way_back) {
  const ModelGraph graph = tiny("phase: training, sequences: 32, parallel: {data: 8}");
  EXPECT_EQ(names_in(graph, "stage 0, microbatch 0: backward of layer 1").at(0),
            "mlp_down_input_gradient");
  const Names last = names_in(graph, "stage 0, microbatch 1: backward of layer 0");
  EXPECT_EQ(last.at(0), "gradient_sum");
  const std::vector<const ModelOp*> sums = ops_named(graph, "gradient_sum");
  ASSERT_EQ(sums.size(), 4U);  // head, two layers, embedding
  EXPECT_EQ(sums[1]->stream, kDataParallel);
  EXPECT_EQ(names_after(graph, *sums[1]), Names{"attn_norm_backward"});
  const std::int64_t layer = 64 * 64 + 2 * 64 * 32 + 64 * 64 + 3 * 64 * 256 + 2 * 64;
  EXPECT_EQ(buffer_of(*sums[1]), bytes(layer * 4));
  EXPECT_EQ(names_in(graph, "stage 0: gradients of its first weights"), Names{"gradient_sum"});
  EXPECT_EQ(names_in(graph, "stage 0: optimiser"), Names{"optimizer"});
  EXPECT_EQ(names_after(graph, first_named(graph, "optimizer")), Names{"gradient_sum"});
}

// Read and written once, in fp32, before they are summed.
TEST(Transformer, a_kernel_divides_each_layers_gradients_before_they_are_summed) {
  const std::string step = "phase: training, sequences: 32, parallel: {data: 8}";
  EXPECT_TRUE(ops_named(tiny(step), "gradient_scale").empty());
  const ModelGraph graph = tiny(step + ", gradient_scaling: kernel");
  const std::vector<const ModelOp*> scales = ops_named(graph, "gradient_scale");
  ASSERT_EQ(scales.size(), 4U);  // head, two layers, embedding
  const std::int64_t layer = 64 * 64 + 2 * 64 * 32 + 64 * 64 + 3 * 64 * 256 + 2 * 64;
  const auto& shape = std::get<StreamShape>(scales[1]->shape);
  EXPECT_EQ(shape.read, bytes(layer * 4));
  EXPECT_EQ(shape.written, bytes(layer * 4));
  EXPECT_EQ(names_after(graph, *ops_named(graph, "gradient_sum")[1]), Names{"gradient_scale"});
  EXPECT_TRUE(ops_named(tiny("phase: training, sequences: 4, parallel: {tensor: 8}, "
                             "gradient_scaling: kernel"),
                        "gradient_scale")
                  .empty());  // nothing to sum
}

TEST(Transformer, a_sharded_optimizer_scatters_gradients_and_gathers_parameters) {
  const ModelGraph graph = tiny(
      "phase: training, sequences: 16, gradient_dtype: bf16, "
      "parallel: {data: 8, sharded_optimizer: true}");
  EXPECT_EQ(first_named(graph, "gradient_sum").part, "reduce_scatter");
  const std::int64_t weights = parameters_of(
      scenario_of("{" + kTiny + "phase: prefill, sequences: 16, parallel: {data: 8}}", 1)
          .workload.transformer);
  Bytes gathered;  // layer by layer
  for (const ModelOp* gather : ops_named(graph, "parameter_gather")) gathered += buffer_of(*gather);
  EXPECT_EQ(gathered, bytes(weights * 2));
  const auto& update = std::get<StreamShape>(first_named(graph, "optimizer").shape);
  EXPECT_EQ(update.read, bytes((weights + 7) / 8 * (12 + 2)));
}

TEST(Transformer, stages_send_what_a_microbatch_left_them) {
  const ModelGraph graph =
      tiny("phase: training, sequences: 6, parallel: {tensor: 4, pipeline: 2}");
  const std::vector<const ModelOp*> ahead = ops_named(graph, "send_forward");
  ASSERT_EQ(ahead.size(), 3U);
  EXPECT_EQ(ahead[0]->stream, kPipeline);
  EXPECT_EQ(buffer_of(*ahead[0]), bytes(2 * 32 * 64 * 2));
  EXPECT_EQ(names_after(graph, *ahead[0]), Names{"mlp_residual"});
  EXPECT_EQ(graph.places[ahead[0]->place].groups,
            (std::vector<std::vector<std::uint32_t>>{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(names_after(graph, *ops_named(graph, "attn_norm").at(2)), Names{"send_forward"});
  // The receiver's kernel comes behind what that stage computes meanwhile.
  EXPECT_EQ(names_after(graph, *ops_named(graph, "send_backward").at(0)),
            (Names{"attn_norm_backward", "mlp_residual"}));
}

// 126 layers on 16 stages: 7 on the first and the last, as section 3.3 of the Llama 3 paper.
TEST(Transformer, the_ends_of_a_pipeline_have_fewer_layers) {
  TransformerSpec spec;
  spec.decoder.layers = 126;
  spec.parallel.pipeline = 16;
  int next = 0;
  for (int stage = 0; stage < 16; ++stage) {
    const StageLayers layers = layers_of_part(spec, stage);
    EXPECT_EQ(layers.first, next);
    EXPECT_EQ(layers.count, stage == 0 || stage == 15 ? 7 : 8);
    next += layers.count;
  }
  EXPECT_EQ(next, 126);
}

// Layers 0 and 2 on stage 0, 1 and 3 on stage 1: what stage 1 made of layer 1 goes on at stage 0.
TEST(Transformer, virtual_stages_send_from_the_last_stage_to_the_first) {
  const ModelGraph graph = four_layers(
      "sequences: 4, parallel: {tensor: 4, pipeline: 2, schedule: interleaved, "
      "virtual_stages: 2}");
  const std::vector<const ModelOp*> ahead = ops_named(graph, "send_forward");
  ASSERT_EQ(ahead.size(), 2U * 3);  // of 2 microbatches, between 4 parts
  std::multiset<std::uint32_t> from;
  for (const ModelOp* send : ahead) from.insert(graph.places[send->place].groups.front().front());
  EXPECT_EQ(from, (std::multiset<std::uint32_t>{0, 0, 0, 0, 4, 4}));
  EXPECT_EQ(ops_named(graph, "send_backward").size(), 2U * 3);
  EXPECT_FALSE(
      names_in(graph, "stage 0, virtual stage 1, microbatch 1: forward of layer 2").empty());
  EXPECT_FALSE(names_in(graph, "stage 1, virtual stage 1, microbatch 0: head").empty());
}

// The way back that other stages wait for has no gradients of weights; these come in blocks of
// their own, behind them. All work is the same.
TEST(Transformer, zero_bubble_makes_gradients_of_weights_later) {
  const std::string step = "phase: training, sequences: 8, parallel: {tensor: 4, pipeline: 2";
  const ModelGraph graph = tiny(step + ", sequence: true, schedule: zb_h1}");
  EXPECT_EQ(names_in(graph, "stage 0, microbatch 0: backward of layer 0"),
            (Names{"mlp_down_gradient_gather", "mlp_down_input_gradient", "mlp_activation_backward",
                   "mlp_up_input_gradient", "mlp_gradient_reduce", "mlp_norm_weight_gradient",
                   "mlp_norm_backward", "attn_out_gradient_gather", "attn_out_input_gradient",
                   "attention_row_sums", "attention_backward", "query_gradients", "key_gradients",
                   "value_gradients", "rotary_backward", "qkv_input_gradient",
                   "attn_gradient_reduce", "attn_norm_weight_gradient", "attn_norm_backward"}));
  EXPECT_EQ(names_in(graph, "stage 0, microbatch 0: gradients of the weights of layer 0"),
            (Names{"mlp_down_weight_gradient", "mlp_gather_again", "mlp_up_weight_gradient",
                   "attn_out_weight_gradient", "attn_gather_again", "qkv_weight_gradient"}));
  EXPECT_EQ(models_testing::product_flops_of_a_gpu(graph),
            models_testing::product_flops_of_a_gpu(tiny(step + ", sequence: true}")));
}

// The second half of the model goes back: both ends of it are on stage 0, which therefore needs the
// tied vocabulary once, and the last stage sends nothing to itself.
TEST(Transformer, zb_v_has_both_ends_of_the_model_on_the_first_stage) {
  const ModelGraph graph =
      four_layers("sequences: 12, parallel: {tensor: 4, pipeline: 2, schedule: zb_v}");
  EXPECT_EQ(ops_named(graph, "send_forward").size(), 6U * 2);
  EXPECT_TRUE(ops_named(graph, "tied_gradient_sum").empty());
  EXPECT_EQ(first_named(graph, "head").place, first_named(graph, "token_embedding").place);
}

// Of all of a stage's weights, the last first; each bucket has at least the size that is asked for,
// but the last.
TEST(Transformer, gradients_are_collected_in_buckets) {
  const std::string step = "phase: training, sequences: 32, parallel: {data: 8}";
  const ModelGraph graph = tiny(step + ", gradient_bucket: 64 KiB");
  const std::vector<const ModelOp*> sums = ops_named(graph, "gradient_sum");
  Bytes all;
  for (const ModelOp* sum : sums) {
    all += buffer_of(*sum);
    EXPECT_TRUE(sum == sums.back() || buffer_of(*sum) >= kibibytes(64)) << buffer_of(*sum).count();
  }
  const std::int64_t weights = parameters_of(
      scenario_of("{" + kTiny + "phase: prefill, sequences: 16, parallel: {data: 8}}", 1)
          .workload.transformer);
  EXPECT_EQ(all, bytes(weights * 4));
  // In elements of 4 B: head and its norm, 64,064; then of each layer down 16,384 (64 KiB), up
  // 32,768, out 4,096 and qkv 8,192 with the layer's norms 128 and the next layer's down 16,384.
  EXPECT_EQ(buffer_of(*sums.at(0)), bytes(64'064 * 4));
  EXPECT_EQ(buffer_of(*sums.at(1)), bytes(16'384 * 4));
  EXPECT_EQ(buffer_of(*sums.at(2)), bytes(32'768 * 4));
  EXPECT_EQ(buffer_of(*sums.at(3)), bytes((4'096 + 8'192 + 128 + 16'384) * 4));
  EXPECT_EQ(names_after(graph, *sums.at(1)), Names{"mlp_down_weight_gradient"});
  // A bucket that nothing fits but all: one sum, beside nothing.
  EXPECT_EQ(ops_named(tiny(step + ", gradient_bucket: 1 GiB"), "gradient_sum").size(), 1U);
}

// Llama 3 405B with a layer less at either end, said; an end may have the embedding or head alone.
TEST(Transformer, the_ends_of_a_pipeline_may_have_layers_of_their_own) {
  TransformerSpec spec;
  spec.decoder.layers = 126;
  spec.parallel.pipeline = 16;
  spec.parallel.first_layers = 7;
  spec.parallel.last_layers = 7;
  EXPECT_EQ(layers_of_part(spec, 0).count, 7);
  EXPECT_EQ(layers_of_part(spec, 1).first, 7);
  EXPECT_EQ(layers_of_part(spec, 14).count, 8);
  EXPECT_EQ(layers_of_part(spec, 15).first, 119);
  spec.parallel.first_layers = spec.parallel.last_layers = -1;
  spec.parallel.pipeline = 3;
  spec.parallel.layers_of_parts = {43, 42, 41};
  EXPECT_EQ(layers_of_part(spec, 1).first, 43);
  EXPECT_EQ(layers_of_part(spec, 2).first, 85);
  EXPECT_EQ(layers_of_part(spec, 2).count, 41);
  const ModelGraph graph = four_layers(
      "sequences: 8, parallel: {tensor: 2, pipeline: 4, first_layers: 0, last_layers: 0}");
  EXPECT_EQ(names_in(graph, "stage 0, microbatch 0: embedding").at(0), "token_embedding");
  EXPECT_TRUE(names_in(graph, "stage 0, microbatch 0: forward of layer 0").empty());
  EXPECT_FALSE(names_in(graph, "stage 1, microbatch 0: forward of layer 1").empty());
  EXPECT_FALSE(names_in(graph, "stage 3, microbatch 0: head").empty());
}

// Gradients in fp32: each microbatch's GEMM adds to them. As wide as the weights: the first
// microbatch's are written, a kernel adds those of each other one.
TEST(Transformer, gradients_of_several_microbatches_are_added_by_their_gemm_or_by_a_kernel) {
  const std::string two = "phase: training, sequences: 4, parallel: {tensor: 8}, ";
  const ModelGraph wide = tiny(two + "gradient_dtype: fp32");
  for (const ModelOp* op : ops_named(wide, "mlp_up_weight_gradient")) {
    EXPECT_TRUE(std::get<GemmShape>(op->shape).accumulates);
  }
  EXPECT_TRUE(ops_named(wide, "mlp_up_weight_gradient_add").empty());

  const ModelGraph narrow = tiny(two + "gradient_dtype: bf16");
  const std::vector<const ModelOp*> made = ops_named(narrow, "mlp_up_weight_gradient");
  const std::vector<const ModelOp*> added = ops_named(narrow, "mlp_up_weight_gradient_add");
  ASSERT_EQ(made.size(), 2 * added.size());
  const auto& gemm = std::get<GemmShape>(made.front()->shape);
  EXPECT_FALSE(gemm.accumulates);
  const auto& stream = std::get<StreamShape>(added.front()->shape);
  EXPECT_EQ(stream.read.count(), 2 * 2 * gemm.m * gemm.n);
  EXPECT_EQ(stream.written.count(), 2 * gemm.m * gemm.n);
}

// What a block waits for lies before it, and its operators stand together.
TEST(Transformer, blocks_stand_together) {
  const ModelGraph graph = tiny(
      "phase: training, sequences: 16, parallel: {tensor: 2, data: 2, pipeline: 2, sequence: "
      "true}");
  std::set<std::uint32_t> closed;
  BlockId current = BlockId::none();
  for (const ModelOp& op : graph.ops) {
    ASSERT_FALSE(op.block.is_none());
    if (op.block == current) continue;
    EXPECT_TRUE(closed.insert(op.block.value).second) << graph.blocks[op.block].name;
    current = op.block;
  }
  EXPECT_EQ(closed.size(), graph.blocks.size());
}

}  // namespace
}  // namespace weft::transformer_test
