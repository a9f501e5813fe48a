// The memory of a decoder's fullest GPU, by hand and against what is published.
#include "sim/scenario/decoder_memory.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/models/built.h"

namespace weft::decoder_memory_test {
namespace {

using models_testing::scenario_of;

// Two layers a part; 64 tokens in a microbatch of each copy; bf16, all else fp32.
MemoryUse of(const std::string& parallel, const std::string& more = "", int layers = 8,
             int nodes = 1) {
  return fullest_gpu(
      scenario_of("{kind: transformer, phase: training, model: {layers: " + std::to_string(layers) +
                      ", hidden: 64, heads: 8, kv_heads: 4, inner: 256, vocabulary: 1000}, "
                      "sequence_length: 32, microbatch: 2, sequences: 64, parallel: {" +
                      parallel + "}" + more + "}",
                  nodes)
          .workload);
}

// Queries and output, keys and values, three matrices, two norms; vocabulary and last norm.
constexpr double kLayer = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 256 + 2 * 64;
constexpr double kEnds = 2 * 64 * 1000 + 64;
// Of a token: four of the hidden size, heads (8 of queries and results, 4 of keys and values),
// 4 B of statistics a head, three of the inner size.
constexpr double kKept = 2 * (4 * 64 + 2 * 64 + 2 * 32 + 3 * 256) + 4 * 8;

TEST(DecoderMemory, is_that_of_weights_and_what_the_optimiser_keeps) {
  const MemoryUse use = of("data: 8");
  EXPECT_EQ(use.weights, 2 * (8 * kLayer + kEnds));
  EXPECT_EQ(use.gradients, 2 * use.weights);
  EXPECT_EQ(use.optimizer, 3 * 2 * use.weights);  // two moments and a copy of the weights
  EXPECT_EQ(of("data: 8, shard: optimizer").optimizer, use.optimizer / 8);
  EXPECT_EQ(of("data: 8, shard: gradients").gradients, use.gradients / 8);
  const MemoryUse shared = of("data: 8, shard: parameters");
  EXPECT_EQ(shared.weights, 0);  // the optimiser's copy is the shard
  EXPECT_EQ(shared.gathered, 2 * (2 * kLayer + kEnds));
}

// One microbatch at a time, and its logits in bf16 and fp32.
TEST(DecoderMemory, keeps_what_the_backward_pass_needs) {
  const MemoryUse use = of("data: 8");
  EXPECT_EQ(use.parts, 1);
  EXPECT_EQ(use.activations, 64 * 8 * kKept);
  EXPECT_EQ(use.logits, 64 * (2 * 2 * 64 + 6 * 1000));
  // Inputs of eight layers, and one whole layer.
  EXPECT_EQ(of("data: 8", ", recompute: layer").activations, 64 * (8 * 2 * 64 + kKept));
}

// In fp8 what products read again takes 1 B: two of the hidden size and the activation's result;
// attention's result is there in both types. Weights of layers have 2 B of casts.
TEST(DecoderMemory, of_layers_in_fp8_has_casts_of_operands) {
  const MemoryUse use = of("data: 8", ", fp8: tensor");
  EXPECT_EQ(use.activations, 64 * 8 * (kKept - 2 * 64 - 256 + 64));
  EXPECT_EQ(use.weights, 2 * (8 * kLayer + kEnds) + 2 * 8 * kLayer);
  EXPECT_EQ(of("data: 8, shard: parameters", ", fp8: tensor").weights, 0);
}

TEST(DecoderMemory, is_shared_by_the_gpus_of_a_layer) {
  const double alone = 2 * 4 * 64;  // between the parts of a layer
  EXPECT_EQ(of("tensor: 4, data: 2").activations, 64 * 8 * (alone + (kKept - alone) / 4));
  EXPECT_EQ(of("tensor: 4, data: 2, sequence: true").activations, 64 * 8 * kKept / 4);
  EXPECT_EQ(of("context: 4, data: 2").activations, 16 * 8 * kKept);
}

// Of 32 microbatches in four stages, two layers each: 1F1B keeps four in the first stage, which has
// the most, GPipe all. Interleaved with v = 2 parts of a layer: 2 (p - 1) + (v - 1) p + 1 parts
// (Narayanan et al., arXiv:2104.04473, the warm-up of the first stage and one more). A stage of
// ZB-V keeps 2 p parts at most, as much as p of 1F1B (arXiv:2401.10241).
TEST(DecoderMemory, follows_the_schedule) {
  const auto parts = [](const std::string& schedule) {
    return of("pipeline: 4, data: 2, schedule: " + schedule);
  };
  EXPECT_EQ(parts("1f1b").stage, 0);
  EXPECT_EQ(parts("1f1b").activations, 4 * 64 * 2 * kKept);
  EXPECT_EQ(parts("gpipe").parts, 16);
  EXPECT_EQ(parts("interleaved, virtual_stages: 2").parts, 2 * 3 + 4 + 1);
  EXPECT_EQ(parts("interleaved, virtual_stages: 2").activations, 11 * 64 * kKept);
  EXPECT_LE(parts("zb_v").parts, 8);
}

// A microbatch of GPT-3 175B's 96 layers on eight GPUs; `more`: of parallel, or after it.
double gpt3(const std::string& more) {
  const std::string workload =
      "{base: models/gpt3_175b, phase: training, sequence_length: 2048, sequences: 1, microbatch: "
      "1, parallel: {tensor: 8" +
      more + "}";
  return fullest_gpu(scenario_of(workload, 1).workload).activations;
}

// Korthikanti et al., arXiv:2205.05198, table 2: of a layer, with attention that keeps no scores,
// s b h (10 + 24 / t), with sequence parallelism 34 s b h / t, computed again 2 s b h (with
// sequence parallelism a t-th), of which 2 are masks of dropout; attention keeps 4 B for each head
// and token instead of scores. The mask of the embedded tokens is s b h.
TEST(DecoderMemory, of_a_layer_is_what_korthikanti_et_al_count) {
  constexpr double kHidden = 12288;
  constexpr double kStatistics = 4 * 96 / 8.0;
  EXPECT_EQ(gpt3("}"), 96 * 2048 * ((10 - 2 + 24 / 8.0) * kHidden + kStatistics));
  const double layer = 2048 * ((34 - 2) / 8.0 * kHidden + kStatistics);
  EXPECT_EQ(gpt3(", sequence: true}"), 96 * layer);
  EXPECT_EQ(gpt3(", sequence: true}, recompute: layer"), 96 * 2048 * 2 * kHidden / 8 + layer);
  const std::string dropout = ", model: {dropout: true}";
  EXPECT_EQ(gpt3("}" + dropout),
            (96 * (10 + 24 / 8.0) + 1) * 2048 * kHidden + 96 * 2048 * kStatistics);
  const double dropping = 2048 * (34 / 8.0 * kHidden + kStatistics);
  const double mask = 2048 * kHidden / 8;
  EXPECT_EQ(gpt3(", sequence: true}" + dropout), 96 * dropping + mask);
  EXPECT_EQ(gpt3(", sequence: true}, recompute: layer" + dropout), 96 * 2 * mask + dropping + mask);
}

// Of the 32 B per element of the hidden size norms make 4, the activation 8, the feed-forward 16;
// attention itself keeps the statistics. The layer whose backward pass it is has all.
TEST(DecoderMemory, is_less_by_the_parts_that_are_computed_again) {
  const auto again = [](const std::string& modules) {
    return gpt3(", sequence: true}, recompute: selective, recompute_modules: [" + modules + "]");
  };
  const double all = gpt3(", sequence: true}");
  constexpr double kHidden = 2048 * 12288 / 8.0;
  EXPECT_EQ(again("layernorm"), all - 95 * 4 * kHidden);
  EXPECT_EQ(again("activation"), all - 95 * 8 * kHidden);
  EXPECT_EQ(again("mlp"), all - 95 * 16 * kHidden);
  EXPECT_EQ(again("layernorm, mlp, activation"), all - 95 * 20 * kHidden);
  EXPECT_EQ(again("core_attn"), all - 95 * 2048 * 4 * 96 / 8.0);
}

// Elements of a token, hidden size 64: queries, keys (24 each), values and results (16) of 8 heads;
// short vectors of 32 and 16 before and after their norms, 8 of the position; 2 experts of 64 and
// 3 x 32, another of 3 x 32 for all.
TEST(DecoderMemory, of_latent_attention_and_experts) {
  const auto of_moe = [](const std::string& more) {
    return fullest_gpu(
               scenario_of("{kind: moe, phase: training, model: {layers: 4, hidden: 64, heads: 8, "
                           "vocabulary: 1000, head_dim: 24, value_head_dim: 16, "
                           "latent: {queries: 32, keys: 16, position: 8}}, moe: {experts: 8, "
                           "top_k: 2, inner: 32, shared_inner: 32}, sequence_length: 32, "
                           "microbatch: 2, sequences: 16, parallel: {data: 8, expert: 8}" +
                               more + "}",
                           1)
                   .workload)
        .activations;
  };
  constexpr double kHeads = 2 * 8 * 24 + 8 * 16;
  constexpr double kExperts = 2 * (64 + 3 * 32) + 3 * 32;
  constexpr double kAll = 4 * 64 + kHeads + 8 * 16 + 2 * (32 + 16) + 8 + kExperts;
  const double layer = 64 * (2 * kAll + 4 * 8);
  EXPECT_EQ(of_moe(""), 4 * layer);
  const auto less = [&](const std::string& modules) {
    return 4 * layer - of_moe(", recompute: selective, recompute_modules: [" + modules + "]");
  };
  EXPECT_EQ(less("mla_up_proj"), 3 * 64 * 2 * (kHeads + 32 + 16));
  EXPECT_EQ(less("moe"), 3 * 64 * 2 * kExperts);
  EXPECT_EQ(less("activation"), 3 * 64 * 2 * 3 * 32);
}

// Halves of experts on two GPUs, each with the tokens of both: their inputs are kept twice, and of
// the two halves of what is inside as much as before.
TEST(DecoderMemory, of_parts_of_experts_holds_the_tokens_of_all_that_share_them) {
  const auto of_moe = [](const std::string& parallel) {
    return fullest_gpu(scenario_of("{kind: moe, phase: training, model: {layers: 4, hidden: 64, "
                                   "heads: 8, vocabulary: 1000}, moe: {experts: 8, top_k: 2, "
                                   "inner: 32}, sequence_length: 32, microbatch: 1, sequences: 8, "
                                   "parallel: {data: 8, " +
                                       parallel + "}}",
                                   1)
                           .workload);
  };
  const MemoryUse whole = of_moe("expert: 8");
  const MemoryUse parts = of_moe("expert: 4, expert_tensor: 2");
  EXPECT_EQ(parts.weights, whole.weights);
  EXPECT_EQ(parts.activations - whole.activations, 4 * 32 * 2 * 2 * 64.0);  // bf16, two a token
}

// Of a pipeline's stage, whole from its first pass on: gathered parameters and own gradients.
TEST(DecoderMemory, of_parameters_shared_in_a_pipeline_holds_a_stages_gradients_whole) {
  const auto of = [](const std::string& parallel) {
    return fullest_gpu(scenario_of("{kind: transformer, phase: training, model: {layers: 4, "
                                   "hidden: 64, heads: 8, inner: 256, vocabulary: 1000}, "
                                   "sequence_length: 32, microbatch: 1, sequences: 8, parallel: {" +
                                       parallel + "}}",
                                   1)
                           .workload);
  };
  constexpr double kOfALayer = 4 * 64 * 64 + 3 * 64 * 256 + 2 * 64;
  constexpr double kStage = 2 * kOfALayer + 64 * 1000 + 64;  // the last, with the head
  const MemoryUse shared = of("data: 4, pipeline: 2, shard: parameters");
  EXPECT_EQ(shared.gathered, kStage * 2);
  EXPECT_EQ(shared.gradients, kStage * 4);
  EXPECT_EQ(shared.optimizer, kStage * 3 * 4 / 4);
}

// Experts that no other GPU has are neither shared nor gathered: they stay as they are, in bf16.
TEST(DecoderMemory, of_experts_that_nobody_shares_is_counted_once) {
  const MemoryUse use = fullest_gpu(
      scenario_of("{kind: moe, phase: training, model: {layers: 2, hidden: 64, heads: 8, "
                  "vocabulary: 1000}, moe: {experts: 8, top_k: 2, inner: 32}, sequence_length: 32, "
                  "microbatch: 1, sequences: 8, parallel: {data: 4, expert: 4, pipeline: 2, shard: "
                  "parameters}}",
                  1)
          .workload);
  constexpr double kCommon = 4 * 64 * 64 + 2 * 64 + 64 * 8 + 64 * 1000 + 64;
  constexpr double kExperts = 8 / 4 * 3 * 64 * 32;
  EXPECT_EQ(use.weights, kExperts * 2);
  EXPECT_EQ(use.gathered, kCommon * 2);
}

// A prompt's keys and values: of every token and layer.
TEST(DecoderMemory, of_answers_is_weights_and_keys_and_values) {
  const MemoryUse use = fullest_gpu(
      scenario_of("{kind: transformer, phase: decode, model: {layers: 8, hidden: 64, heads: 8, "
                  "kv_heads: 4, inner: 256, vocabulary: 1000}, sequence_length: 32, microbatch: 2, "
                  "sequences: 64, parallel: {data: 8}}",
                  1)
          .workload);
  EXPECT_EQ(use.cached, 8.0 * 8 * 32 * 2 * 4 * 8 * 2);  // 8 sequences a GPU
  // Two new tokens: 2 hidden, and three tensors of inner between the products, more than queries,
  // keys, values, results (3 x 64 + 2 x 32 + statistics).
  EXPECT_EQ(use.activations, 2.0 * (2 * 64 + 3 * 256) * 2);
  EXPECT_EQ(use.logits, 2.0 * 1000 * 2);
  EXPECT_EQ(use.gradients, 0);
}

// 32 tokens of two sequences, 16 times as many as of two new ones.
TEST(DecoderMemory, of_a_prompt_holds_what_all_its_tokens_need_at_a_time) {
  const MemoryUse use = fullest_gpu(
      scenario_of("{kind: transformer, phase: prefill, model: {layers: 8, hidden: 64, heads: 8, "
                  "kv_heads: 4, inner: 256, vocabulary: 1000}, sequence_length: 32, microbatch: 2, "
                  "sequences: 64, parallel: {data: 8}}",
                  1)
          .workload);
  EXPECT_EQ(use.activations, 2.0 * 32 * (2 * 64 + 3 * 256) * 2);
  EXPECT_EQ(use.logits, 2.0 * 1000 * 2);
}

// Each layer: q, k, v and out 64 x (64 + 2 x 32 + 64) and 3 x 64 x 256; 68 B for 128 of them.
TEST(DecoderMemory, of_packed_weights_is_their_4_bits_and_scales) {
  const auto weights = [](const std::string& more) {
    return fullest_gpu(
               scenario_of("{kind: transformer, phase: decode, model: {layers: 8, hidden: 64, "
                           "heads: 8, kv_heads: 4, inner: 256, vocabulary: 1000}, sequence_length: "
                           "32, microbatch: 2, sequences: 64, parallel: {data: 8}" +
                               more + "}",
                           1)
                   .workload)
        .weights;
  };
  constexpr double kProducts = 64 * (64 + 2 * 32 + 64) + 3 * 64 * 256;
  EXPECT_NEAR(weights("") - weights(", weights: mxfp4"), 8 * kProducts * (2 - 68.0 / 128),
              8 * 2 * 64 * 2);  // norms count as the rest
}

// Of eight layers every third, the third and sixth, keeps all 32 tokens, the others 10.
TEST(DecoderMemory, of_windows_is_what_their_layers_see) {
  const auto cached = [](const std::string& window) {
    return fullest_gpu(
               scenario_of("{kind: transformer, phase: decode, model: {layers: 8, hidden: 64, "
                           "heads: 8, kv_heads: 4, inner: 256, vocabulary: 1000, window: " +
                               window +
                               "}, sequence_length: 32, microbatch: 2, sequences: 64, "
                               "parallel: {data: 8}}",
                           1)
                   .workload)
        .cached;
  };
  constexpr double kToken = 8 * 2 * 4 * 8 * 2;  // of a layer; 8 sequences a GPU
  EXPECT_EQ(cached("10"), 8 * 10 * kToken);
  EXPECT_EQ(cached("10, full_every: 3"), (6 * 10 + 2 * 32) * kToken);
  EXPECT_EQ(cached("100"), 8 * 32 * kToken);
}

}  // namespace
}  // namespace weft::decoder_memory_test
