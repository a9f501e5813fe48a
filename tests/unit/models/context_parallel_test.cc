// Attention among GPUs that share each sequence, as operators, by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/models/streams.h"
#include "tests/unit/models/built.h"

namespace weft::context_parallel_test {
namespace {

using models_testing::buffer_of;
using models_testing::first_named;
using models_testing::names_after;
using models_testing::ops_named;
using models_testing::problems_of;
using models_testing::product_flops_of_a_gpu;
using models_testing::scenario_of;
using Names = std::vector<std::string>;
using GpuGroups = std::vector<std::vector<std::uint32_t>>;

const std::string kTiny =
    "kind: transformer, model: {layers: 2, hidden: 64, heads: 8, kv_heads: 4, inner: 256, "
    "vocabulary: 1000}, sequence_length: 32, microbatch: 2, ";

std::string shared(const std::string& phase, int tensor, int context, const std::string& exchange) {
  const int data = 8 / tensor / context;
  return "{" + kTiny + "phase: " + phase + ", sequences: " + std::to_string(2 * data) +
         ", parallel: {tensor: " + std::to_string(tensor) +
         ", context: " + std::to_string(context) +
         (context > 1 ? ", context_exchange: " + exchange : "") +
         ", data: " + std::to_string(data) + "}}";
}

ModelGraph built(const std::string& phase, int tensor, int context, const std::string& exchange) {
  return build_model(scenario_of(shared(phase, tensor, context, exchange), 1));
}

// Names of a layer's operators from `first` to `last`.
Names names_between(const ModelGraph& graph, const std::string& block, const std::string& first,
                    const std::string& last) {
  Names names;
  bool inside = false;
  for (const ModelOp& op : graph.ops) {
    if (graph.blocks[op.block].name != block) continue;
    inside = inside || op.name == first;
    if (inside) names.push_back(op.name);
    if (op.name == last) return names;
  }
  return names;
}
const std::string kForward = "stage 0, microbatch 0: forward of layer 1";
const std::string kBackward = "stage 0, microbatch 0: backward of layer 1";

AttentionShape attention_of(const ModelOp& op) { return std::get<AttentionShape>(op.shape); }
std::vector<std::int64_t> pairs_of(const ModelOp& op) {
  return std::get<CommunicationShape>(op.shape).pair_bytes;
}

// Tensor rank, then part of the sequence, then copy of the model.
TEST(ContextParallel, gpus_of_a_sequence_are_a_tensor_parallel_group_apart) {
  const ModelGraph graph = built("training", 2, 2, "all_gather");
  const auto groups = [&](const char* name) {
    return graph.places[first_named(graph, name).place].groups;
  };
  EXPECT_EQ(groups("qkv"), (GpuGroups{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(groups("key_value_gather"), (GpuGroups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  // Weights are the same on all GPUs of a sequence, so their gradients are summed over these too.
  EXPECT_EQ(groups("gradient_sum"), (GpuGroups{{0, 2, 4, 6}, {1, 3, 5, 7}}));
  EXPECT_EQ(std::get<GemmShape>(first_named(graph, "qkv").shape).m, 2 * 32 / 2);
  EXPECT_EQ(std::get<StreamShape>(first_named(graph, "loss").shape).read, bytes(32 * 500 * 2));
}

TEST(ContextParallel, one_gpu_for_a_sequence_changes_nothing) {
  const std::string step = "phase: training, sequences: 16, parallel: {data: 8";
  EXPECT_EQ(to_text(build_model(scenario_of("{" + kTiny + step + ", context: 1}}", 1))),
            to_text(build_model(scenario_of("{" + kTiny + step + "}}", 1))));
}

// Every way computes as many products as one GPU would, forward and backward, divided evenly.
TEST(ContextParallel, the_work_of_a_sequence_is_divided_evenly) {
  for (const char* phase : {"prefill", "training"}) {
    const double whole = product_flops_of_a_gpu(built(phase, 1, 1, ""));
    for (const char* exchange : {"all_gather", "ring", "ulysses"}) {
      for (const int gpus : {2, 4, 8}) {
        // After a prompt each GPU computes the logits of a last token.
        const ModelGraph graph = built(phase, 1, gpus, exchange);
        const double head = static_cast<double>(flops_of(first_named(graph, "head").shape).count());
        const double extra = std::string(phase) == "prefill" ? head * (gpus - 1) : 0;
        EXPECT_EQ(product_flops_of_a_gpu(graph) * gpus - extra, whole) << phase << exchange << gpus;
      }
    }
  }
}

// With all_gather and ulysses; in a ring all would be sent to all.
TEST(ContextParallel, windows_are_of_gathered_keys_or_of_some_heads) {
  const auto of = [](const std::string& exchange) {
    return "{kind: transformer, model: {layers: 2, hidden: 64, heads: 8, inner: 256, vocabulary: "
           "1000, window: 6}, sequence_length: 32, microbatch: 2, phase: training, sequences: 4, "
           "parallel: {context: 4, data: 2, context_exchange: " +
           exchange + "}}";
  };
  for (const char* exchange : {"all_gather", "ulysses"}) {
    const ModelGraph graph = build_model(scenario_of(of(exchange), 1));
    EXPECT_EQ(attention_of(first_named(graph, "attention")).window, 6);
    EXPECT_EQ(attention_of(first_named(graph, "attention_backward")).window, 6);
  }
  EXPECT_EQ(
      problems_of(of("ring"), 1),
      Names{"workload.parallel.context_exchange: ring: layers with a window of 6 of 32 tokens "
            "(model.window) do not need what comes round; use all_gather or ulysses"});
}

// 4 GPUs have 8 tokens of each of 2 sequences, in chunks of 4 that attend to 4.5 chunks on average.
// Keys and values of whole sequences: 2 x 32 tokens x 2 heads x 16 elements x 2 B.
TEST(ContextParallel, keys_and_values_are_gathered_and_their_gradients_scattered) {
  const ModelGraph graph = built("training", 2, 4, "all_gather");
  EXPECT_EQ(names_between(graph, kForward, "rotary", "attn_out"),
            (Names{"rotary", "key_value_gather", "key_value_order", "attention", "attn_out"}));
  const ModelOp& gather = first_named(graph, "key_value_gather");
  EXPECT_EQ(buffer_of(gather), bytes(2 * 32 * 2 * 16 * 2));
  EXPECT_EQ(gather.part, "all_gather");
  EXPECT_EQ(gather.stream, kCritical);
  EXPECT_EQ(names_after(graph, first_named(graph, "key_value_order")), Names{"key_value_gather"});
  const AttentionShape shape = attention_of(first_named(graph, "attention"));
  EXPECT_EQ(shape.batch, 2 * 2);
  EXPECT_EQ(shape.queries, 4);
  EXPECT_EQ(shape.keys, 18);
  EXPECT_EQ(shape.heads, 4);
  EXPECT_EQ(shape.kv_heads, 2);
  EXPECT_EQ(names_between(graph, kBackward, "attn_out_weight_gradient", "rotary_backward"),
            (Names{"attn_out_weight_gradient", "key_value_gather_again", "key_value_order",
                   "attention_row_sums", "attention_backward", "query_gradients", "key_gradients",
                   "value_gradients", "key_value_gradient_order", "key_value_gradient_reduce",
                   "rotary_backward"}));
  const ModelOp& reduce = first_named(graph, "key_value_gradient_reduce");
  EXPECT_EQ(buffer_of(reduce), buffer_of(gather));
  EXPECT_EQ(reduce.part, "reduce_scatter");
  EXPECT_EQ(names_after(graph, first_named(graph, "rotary_backward")),
            Names{"key_value_gradient_reduce"});
}

// A GPU's keys and values: 2 x 8 tokens x 2 heads x 16 elements x 2 B = 1,024 B, to the next GPU.
TEST(ContextParallel, keys_and_values_go_round_beside_attention) {
  const ModelGraph graph = built("prefill", 2, 4, "ring");
  EXPECT_EQ(names_between(graph, kForward, "key_value_copy", "attn_out"),
            (Names{"key_value_copy", "key_value_send", "attention", "key_value_send", "attention",
                   "attention_merge", "key_value_send", "attention", "attention_merge", "attention",
                   "attention_merge", "attn_out"}));
  const std::vector<const ModelOp*> sends = ops_named(graph, "key_value_send");
  const std::vector<const ModelOp*> steps = ops_named(graph, "attention");
  ASSERT_EQ(sends.size(), 2U * 3);
  ASSERT_EQ(steps.size(), 2U * 4);
  EXPECT_EQ(pairs_of(*sends[0]), (std::vector<std::int64_t>{0, 1024, 0, 0,     //
                                                            0, 0, 1024, 0,     //
                                                            0, 0, 0, 1024,     //
                                                            1024, 0, 0, 0}));  //
  EXPECT_EQ(sends[0]->part, "send");
  EXPECT_EQ(sends[0]->stream, kCritical);
  // A send waits for the step before it, and so do keys and values that it brings; what they are
  // attended with waits for nothing else, so the next send is beside it.
  EXPECT_EQ(names_after(graph, *sends[0]), Names{"key_value_copy"});
  EXPECT_EQ(names_after(graph, *sends[1]), Names{"attention"});
  EXPECT_EQ(names_after(graph, *sends[2]), Names{"attention_merge"});
  EXPECT_EQ(names_after(graph, *steps[0]), Names{});
  for (const std::size_t i : {0U, 1U, 2U}) {
    ASSERT_EQ(steps[i + 1]->after.size(), 1U);
    EXPECT_EQ(&graph.ops[steps[i + 1]->after.front()], sends[i]);
  }
  // Its own 8 keys, causally; then 4 of each other GPU's, by all of its queries.
  EXPECT_TRUE(attention_of(*steps[0]).causal);
  EXPECT_EQ(attention_of(*steps[0]).keys, 8);
  for (const std::size_t i : {1U, 2U, 3U}) {
    EXPECT_FALSE(attention_of(*steps[i]).causal);
    EXPECT_EQ(attention_of(*steps[i]).queries, 8);
    EXPECT_EQ(attention_of(*steps[i]).keys, 4);
  }
}

// The other way round, gradients a step behind: 1, 2, 2, 1 times 1,024 B, twice what forward sends.
TEST(ContextParallel, gradients_of_keys_and_values_go_round_as_well) {
  const ModelGraph graph = built("training", 2, 4, "ring");
  const Names names = names_between(graph, kBackward, "key_value_copy", "rotary_backward");
  const Names first{"key_value_copy",  "key_value_send", "attention_row_sums", "attention_backward",
                    "query_gradients", "key_gradients",  "value_gradients"};
  EXPECT_EQ(Names(names.begin(), names.begin() + 7), first);
  EXPECT_EQ(Names(names.end() - 9, names.end()),
            (Names{"key_value_gradient_send", "attention_row_sums", "attention_backward",
                   "query_gradients", "key_gradients", "value_gradients", "query_gradient_add",
                   "key_value_gradient_add", "rotary_backward"}));
  std::int64_t sent = 0;
  for (const ModelOp& op : graph.ops) {
    if (graph.blocks[op.block].name != kBackward || op.part != "send") continue;
    EXPECT_EQ(pairs_of(op)[1], 0);
    sent += pairs_of(op)[3];  // from the first GPU to the last
  }
  EXPECT_EQ(sent, 2 * 3 * 1024);
  const std::vector<const ModelOp*> both = ops_named(graph, "key_value_and_gradient_send");
  ASSERT_EQ(both.size(), 2U * 2);
  EXPECT_EQ(pairs_of(*both[0])[3], 2 * 1024);
  EXPECT_EQ(names_after(graph, *both[0]), Names{"value_gradients"});
  EXPECT_EQ(names_after(graph, *both[1]), Names{"key_value_gradient_add"});
  // A step's keys and values come with the send of the step before it, the gradients to which it
  // adds with that beside it.
  const std::vector<const ModelOp*> adds = ops_named(graph, "key_value_gradient_add");
  EXPECT_EQ(names_after(graph, *adds[0]), Names{"key_value_and_gradient_send"});
  EXPECT_EQ(names_after(graph, *adds[2]), Names{"key_value_gradient_send"});
  const std::vector<const ModelOp*> steps = ops_named(graph, "attention_row_sums");
  EXPECT_EQ(names_after(graph, *steps[1]), Names{"key_value_send"});
  EXPECT_EQ(names_after(graph, *steps[3]), Names{"key_value_and_gradient_send"});
  EXPECT_TRUE(attention_of(*ops_named(graph, "attention_backward")[3]).causal);
}

// 4 heads and 2 of keys and values on a tensor-parallel GPU; among 2, 2 and 1 for all 32 tokens.
// Sent: 2 x 16 tokens x (4 + 2 x 2) heads x 8 elements x 2 B, and the results of 4 heads.
TEST(ContextParallel, heads_are_exchanged_for_tokens_and_back) {
  const ModelGraph graph = built("training", 2, 2, "ulysses");
  EXPECT_EQ(names_between(graph, kForward, "rotary", "attn_out"),
            (Names{"rotary", "heads_copy", "heads_exchange", "attention", "tokens_exchange",
                   "tokens_copy", "attn_out"}));
  EXPECT_EQ(buffer_of(first_named(graph, "heads_exchange")), bytes(2 * 16 * 8 * 8 * 2));
  EXPECT_EQ(buffer_of(first_named(graph, "tokens_exchange")), bytes(2 * 16 * 4 * 8 * 2));
  const AttentionShape shape = attention_of(first_named(graph, "attention"));
  EXPECT_EQ(shape.heads, 2);
  EXPECT_EQ(shape.kv_heads, 1);
  EXPECT_EQ(shape.queries, 32);
  EXPECT_EQ(shape.keys, 32);
  EXPECT_EQ(buffer_of(first_named(graph, "tokens_gradient_exchange")),
            buffer_of(first_named(graph, "tokens_exchange")));
  EXPECT_EQ(buffer_of(first_named(graph, "heads_gradient_exchange")),
            buffer_of(first_named(graph, "heads_exchange")));
  EXPECT_EQ(names_after(graph, first_named(graph, "attention_row_sums")),
            Names{"tokens_gradient_exchange"});
}

// 4 heads of keys and values for 8 GPUs: each is sent to two.
TEST(ContextParallel, heads_that_are_fewer_than_gpus_are_sent_to_several) {
  const ModelGraph graph = built("prefill", 1, 8, "ulysses");
  EXPECT_EQ(buffer_of(first_named(graph, "heads_exchange")), bytes(2 * 4 * (8 + 2 * 8) * 8 * 2));
  EXPECT_EQ(attention_of(first_named(graph, "attention")).kv_heads, 1);
}

// 2 x 8 tokens of a tensor-parallel group, of which a GPU routes 8, to 2 experts each.
TEST(ContextParallel, experts_are_shared_by_gpus_of_a_sequence) {
  const ModelGraph graph = build_model(scenario_of(
      "{kind: moe, model: {layers: 2, hidden: 64, heads: 8, vocabulary: 1000}, moe: {experts: 8, "
      "top_k: 2, inner: 32}, sequence_length: 32, microbatch: 2, sequences: 2, phase: training, "
      "parallel: {tensor: 2, context: 4, expert: 4}}",
      1));
  EXPECT_EQ(buffer_of(first_named(graph, "dispatch")), bytes(8 * 2 * 64 * 2));
  const auto groups = [&](const char* name) {
    return graph.places[first_named(graph, name).place].groups;
  };
  EXPECT_EQ(groups("dispatch"), (GpuGroups{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(groups("expert_gradient_sum"), (GpuGroups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(groups("gradient_sum"), (GpuGroups{{0, 2, 4, 6}, {1, 3, 5, 7}}));
}

TEST(ContextParallel, gradients_of_weights_that_come_later_have_no_attention) {
  for (const char* exchange : {"all_gather", "ring", "ulysses"}) {
    const ModelGraph graph = build_model(scenario_of(
        "{" + kTiny +
            "phase: training, sequences: 8, parallel: {tensor: 2, context: 2, pipeline: "
            "2, schedule: zb_h1, context_exchange: " +
            exchange + "}}",
        1));
    EXPECT_EQ(names_between(graph, "stage 0, microbatch 0: gradients of the weights of layer 0",
                            "mlp_down_weight_gradient", ""),
              (Names{"mlp_down_weight_gradient", "mlp_up_weight_gradient",
                     "attn_out_weight_gradient", "qkv_weight_gradient"}));
  }
}

// Prompts: each GPU keeps the keys and values of its tokens only. 2 x 80 layers x 1 head x 128
// elements x 2 B a token: 16,000 million tokens take 655 TB or, of 8 GPUs, each 82 TB.
TEST(ContextParallel, keys_and_values_of_a_prompt_are_spread) {
  const auto problems = [](int context) {
    return problems_of(
        "{base: models/llama3_70b, phase: prefill, sequence_length: 1000000, "
        "microbatch: 10, sequences: 16000, parallel: {tensor: 8, context: " +
            std::to_string(context) + "}}",
        context);
  };
  ASSERT_EQ(problems(1).size(), 1U);
  EXPECT_NE(problems(1).front().find("takes 655"), std::string::npos) << problems(1).front();
  EXPECT_EQ(problems(8), Names{});
}

TEST(ContextParallel, everything_must_divide) {
  EXPECT_EQ(problems_of(shared("decode", 1, 8, "ring"), 1),
            (Names{"workload.parallel.context: one new token of a sequence is not shared: phase "
                   "decode has no context parallelism; use parallel.data or parallel.tensor"}));
  const auto problems = [](const std::string& length, const std::string& exchange) {
    std::string text = shared("prefill", 1, 8, exchange);
    const std::string known = "sequence_length: 32";
    return problems_of(text.replace(text.find(known), known.size(), "sequence_length: " + length),
                       1);
  };
  EXPECT_EQ(problems("40", "ring"),
            (Names{"workload.sequence_length: 40 tokens do not divide among 8 GPUs that share a "
                   "sequence, each of which has two chunks (parallel.context); nearest: 32 or "
                   "48"}));
  EXPECT_EQ(problems("48", "all_gather"),
            (Names{"workload.sequence_length: 48 tokens do not divide among 8 GPUs that share a "
                   "sequence, each of which has two chunks of an even number (parallel.context); "
                   "nearest: 32 or 64"}));
  EXPECT_EQ(problems("40", "ulysses"), Names{});
  EXPECT_EQ(problems("36", "ulysses"),
            (Names{"workload.sequence_length: 36 tokens do not divide among 8 GPUs that share a "
                   "sequence (parallel.context); nearest: 32 or 40"}));
}

TEST(ContextParallel, heads_that_are_exchanged_must_divide) {
  const auto problems = [](const std::string& heads, int context) {
    return problems_of("{kind: transformer, model: {layers: 2, hidden: 64, " + heads +
                           ", inner: 256, vocabulary: 1000}, sequence_length: 96, microbatch: 1, "
                           "sequences: 1, phase: prefill, parallel: {tensor: 2, context: " +
                           std::to_string(context) + ", context_exchange: ulysses}}",
                       context / 4);
  };
  EXPECT_EQ(problems("heads: 8, kv_heads: 4", 16),
            (Names{"workload.parallel.context: 4 heads of a tensor-parallel GPU do not divide "
                   "among 16 GPUs (context_exchange: ulysses); nearest: 4; or use ring or "
                   "all_gather"}));
  EXPECT_EQ(problems("heads: 24, kv_heads: 6, head_dim: 8", 4),
            (Names{"workload.parallel.context: 3 heads of keys and values of a tensor-parallel GPU "
                   "do not divide among 4 GPUs (context_exchange: ulysses); nearest: 3; or use "
                   "ring or all_gather"}));
}

TEST(ContextParallel, the_copies_that_are_missing_are_named) {
  EXPECT_EQ(problems_of("{" + kTiny +
                            "phase: prefill, sequences: 2, parallel: {tensor: 2, "
                            "context: 4, context_exchange: ring}}",
                        4),
            (Names{"workload.parallel: tensor 2 x context 4 x data 1 x pipeline 1 = 8 GPUs, but "
                   "the cluster has 32; data: 4 would be right"}));
}

}  // namespace
}  // namespace weft::context_parallel_test
