// FLOPs, tokens and samples of a step, counted by hand and by published formulas.
#include "sim/models/step_work.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/models/built.h"

namespace weft::step_work_test {
namespace {

using models_testing::scenario_of;

StepWork work_of(const std::string& workload, int nodes = 1) {
  const Scenario scenario = scenario_of("{" + workload + "}", nodes);
  const std::optional<StepWork> work = work_of_step(scenario, build_model(scenario));
  EXPECT_TRUE(work);
  return work.value_or(StepWork{});
}

const std::string kTiny =
    "kind: transformer, model: {layers: 2, hidden: 64, heads: 8, kv_heads: 4, inner: 256, "
    "vocabulary: 1000}, sequence_length: 32, sequences: 16, microbatch: 2, ";

// Weights of a layer: q, k, v 64 x (8 + 4 + 4) x 8 = 8,192; output 64 x 64 = 4,096; feed-forward
// 3 x 64 x 256 = 49,152. Both layers, of 16 x 32 tokens:
constexpr double kLinear = 2.0 * 512 * 2 * (8'192 + 4'096 + 49'152);
// Forward products of one (query, key) pair, 2 x (8 + 8), in 8 heads, 2 layers, 16 sequences.
constexpr double kOfAPair = 2.0 * 16 * 8 * 2 * 16;
constexpr double kCausal = kOfAPair * 528;  // 32 x 33 / 2 pairs
constexpr double kFull = kOfAPair * 1'024;  // 32 x 32
// The head of one token.
constexpr double kHead = 2.0 * 64 * 1'000;

TEST(StepWork, of_a_prompt_is_a_forward_pass_with_the_logits_of_the_last_tokens) {
  const StepWork work = work_of(kTiny + "phase: prefill, parallel: {data: 8}");
  EXPECT_DOUBLE_EQ(work.model_flops, kLinear + 16 * kHead + kCausal);
  EXPECT_DOUBLE_EQ(*work.full_attention_flops, kLinear + 16 * kHead + kFull);
  EXPECT_DOUBLE_EQ(work.hardware_flops, work.model_flops);
  EXPECT_EQ(work.tokens, 512);
  EXPECT_FALSE(work.samples);
}

TEST(StepWork, of_one_token_more_has_all_its_keys) {
  const StepWork work = work_of(kTiny + "phase: decode, parallel: {data: 8}");
  EXPECT_DOUBLE_EQ(work.model_flops, kLinear / 32 + 16 * kHead + kOfAPair * 32);
  EXPECT_DOUBLE_EQ(*work.full_attention_flops, work.model_flops);
  EXPECT_DOUBLE_EQ(work.hardware_flops, work.model_flops);
  EXPECT_EQ(work.tokens, 16);
}

// The backward pass of attention has 5 products, 4 gradients and the scores again.
TEST(StepWork, of_training_is_three_times_forward_and_scores_again_for_the_hardware) {
  const StepWork work = work_of(kTiny + "phase: training, parallel: {data: 8}");
  EXPECT_DOUBLE_EQ(work.model_flops, 3 * (kLinear + 512 * kHead + kCausal));
  EXPECT_DOUBLE_EQ(*work.full_attention_flops, 3 * (kLinear + 512 * kHead + kFull));
  EXPECT_DOUBLE_EQ(work.hardware_flops, work.model_flops + kCausal / 2);
}

TEST(StepWork, computed_again_is_the_hardwares_only) {
  const StepWork work = work_of(kTiny + "phase: training, recompute: layer, parallel: {data: 8}");
  EXPECT_DOUBLE_EQ(work.model_flops, 3 * (kLinear + 512 * kHead + kCausal));
  EXPECT_DOUBLE_EQ(work.hardware_flops, work.model_flops + kCausal / 2 + kLinear + kCausal);
}

// The first of two layers has a window of 8 of 32 tokens: 8 x 32 - 8 x 7 / 2 pairs; without a mask
// all have 32 x 32. A next token sees 8.
TEST(StepWork, of_a_window_is_what_it_leaves) {
  std::string tiny = kTiny;
  tiny.insert(tiny.find("vocabulary"), "window: 8, full_every: 2, ");
  const StepWork work = work_of(tiny + "phase: training, parallel: {data: 8}");
  const double attention = kOfAPair / 2 * (528 + 8 * 32 - 28);
  EXPECT_DOUBLE_EQ(work.model_flops, 3 * (kLinear + 512 * kHead + attention));
  EXPECT_DOUBLE_EQ(*work.full_attention_flops, 3 * (kLinear + 512 * kHead + kFull));
  EXPECT_DOUBLE_EQ(work.hardware_flops, work.model_flops + attention / 2);
  EXPECT_DOUBLE_EQ(work_of(tiny + "phase: decode, parallel: {data: 8}").model_flops,
                   kLinear / 32 + 16 * kHead + kOfAPair / 2 * (32 + 8));
}

// Four keys' heads on eight GPUs are there twice: 64 x 2 x 4 x 8 weights more.
TEST(StepWork, of_the_model_is_the_same_however_it_is_split) {
  const StepWork data = work_of(kTiny + "phase: training, parallel: {data: 8}");
  const StepWork split = work_of(kTiny + "phase: training, parallel: {tensor: 4, pipeline: 2}");
  EXPECT_DOUBLE_EQ(split.model_flops, data.model_flops);
  EXPECT_DOUBLE_EQ(split.hardware_flops, data.hardware_flops);
  const StepWork twice = work_of(kTiny + "phase: training, parallel: {tensor: 8}");
  EXPECT_DOUBLE_EQ(twice.model_flops, data.model_flops);
  EXPECT_DOUBLE_EQ(twice.hardware_flops, data.hardware_flops + 3 * 2.0 * 512 * 2 * 64 * 64);
}

// A layer: attention 12,288, router 64 x 8, shared 3 x 64 x 64, two experts of 3 x 64 x 128.
TEST(StepWork, of_experts_counts_those_that_a_token_goes_through) {
  const StepWork work = work_of(
      "kind: moe, model: {layers: 2, hidden: 64, heads: 8, kv_heads: 4, vocabulary: 1000}, moe: "
      "{experts: 8, top_k: 2, inner: 128, shared_inner: 64}, sequence_length: 32, sequences: 16, "
      "microbatch: 2, phase: prefill, parallel: {data: 8, expert: 8}");
  const double linear = 2.0 * 512 * 2 * (12'288 + 512 + 12'288 + 2 * 24'576);
  EXPECT_DOUBLE_EQ(work.model_flops, linear + 16 * kHead + kCausal);
  EXPECT_DOUBLE_EQ(work.hardware_flops, work.model_flops);
}

// PaLM, appendix B: 6 N + 12 L H Q T a token; N without the embedding, whose lookup is no product.
TEST(StepWork, of_llama_3_8b_with_full_attention_is_palms_formula) {
  const StepWork work = work_of(
      "base: models/llama3_8b, phase: training, sequence_length: 8192, sequences: 8, microbatch: "
      "1, parallel: {data: 8}");
  const double n = 32 * (4096.0 * (64 + 16) * 128 + 3 * 4096.0 * 14336) + 4096 * 128256.0;
  const double a_token = 6 * n + 12.0 * 32 * 32 * 128 * 8192;
  EXPECT_DOUBLE_EQ(*work.full_attention_flops, 8 * 8192 * a_token);
  // Half of the pairs and half of the diagonal.
  const double causal = 6 * n + 12.0 * 32 * 32 * 128 * 8193 / 2;
  EXPECT_DOUBLE_EQ(work.model_flops, 8 * 8192 * causal);
}

// Korthikanti et al., arXiv:2205.05198: 72 B s l h^2 (1 + s / (6 h) + v / (12 h l)).
TEST(StepWork, of_gpt_3_with_full_attention_is_megatrons_formula) {
  const StepWork work = work_of(
      "base: models/gpt3_175b, model: {vocabulary: 51200}, phase: training, sequence_length: 2048, "
      "sequences: 16, microbatch: 1, recompute: layer, parallel: {tensor: 8, pipeline: 8, data: 2}",
      16);
  const double h = 12288;
  const double formula =
      72.0 * 16 * 2048 * 96 * h * h * (1 + 2048 / (6 * h) + 51200 / (12 * h * 96));
  EXPECT_NEAR(*work.full_attention_flops / formula, 1, 1e-12);
  // Layers forward again: 96 s l h^2 for 72 and half as much of attention, but scores are again.
  EXPECT_GT(work.hardware_flops / work.model_flops, 1.31);
  EXPECT_LT(work.hardware_flops / work.model_flops, 1.34);
}

// Keys and values of one new token are never expanded; each head looks at 512 + 64 and 512.
TEST(StepWork, of_latent_attention_has_what_a_new_token_looks_at) {
  const std::string deepseek =
      "base: models/deepseek_v3, sequence_length: 4096, sequences: 8, microbatch: 1, parallel: "
      "{data: 8, expert: 8}, phase: ";
  const double layer =
      7168.0 * (1536 + 576) + 1536 * 128.0 * 192 + 512 * 128.0 * 256 + 128 * 128.0 * 7168;
  const double experts = 58 * (9 * 3 * 7168.0 * 2048 + 7168 * 256.0) + 3 * 3 * 7168.0 * 18432;
  const double n = 61 * layer + experts + 7168 * 129280.0;
  const StepWork decode = work_of(deepseek + "decode");
  EXPECT_DOUBLE_EQ(decode.model_flops, 8 * (2 * n + 61 * 128.0 * 2 * 4096 * (512 + 64 + 512)));
  const StepWork training = work_of(deepseek + "training");
  const double pairs = 4096 * 4097.0 / 2;
  // What predicts a second token: a layer of experts, two vectors made one, and the head.
  const double second =
      layer + 9 * 3 * 7168.0 * 2048 + 7168 * 256.0 + 2 * 7168.0 * 7168 + 7168 * 129280.0;
  EXPECT_DOUBLE_EQ(training.model_flops,
                   3 * 8 * (4096 * 2 * (n + second) + 62 * 128.0 * 2 * pairs * (192 + 128)));
}

// 2,048 samples, 6 FLOP a weight less the unused gradient of the first layer's input.
TEST(StepWork, of_a_recommendation_model_is_its_mlps) {
  const StepWork work = work_of("base: models/dlrm_public_128, phase: training", 8);
  const double bottom = 2000 * 1024 + 1024 * 1024 + 1024 * 128;
  const double top = (64 * 65 / 2 + 128) * 4096.0 + 2 * 4096.0 * 4096 + 4096;
  EXPECT_DOUBLE_EQ(work.model_flops, 2048 * (6 * (bottom + top) - 2 * 2000.0 * 1024));
  EXPECT_DOUBLE_EQ(work.hardware_flops, work.model_flops);
  EXPECT_EQ(work.samples, 2048);
  EXPECT_FALSE(work.tokens);
  EXPECT_FALSE(work.full_attention_flops);
}

TEST(StepWork, is_of_models_that_scenarios_describe) {
  Scenario scenario = scenario_of("{kind: collective, op: all_reduce, bytes: 1 MiB}", 1);
  EXPECT_FALSE(work_of_step(scenario, build_model(scenario)));
  for (const WorkloadKind recorded : {WorkloadKind::chakra, WorkloadKind::pytorch}) {
    scenario.workload.kind = recorded;
    EXPECT_FALSE(work_of_step(scenario, {}));
  }
}

}  // namespace
}  // namespace weft::step_work_test
