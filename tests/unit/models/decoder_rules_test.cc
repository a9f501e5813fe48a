// What a decoder must be to be shared by the GPUs there are: all that is wrong, at once.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/models/built.h"

namespace weft::decoder_rules_test {
namespace {

using models_testing::problems_of;
using Problems = std::vector<std::string>;

const std::string kRun = "sequence_length: 32, microbatch: 2, ";

TEST(DecoderRules, everything_must_divide) {
  EXPECT_EQ(
      problems_of("{kind: transformer, model: {layers: 2, hidden: 60, heads: 10, kv_heads: 4, "
                  "inner: 250, vocabulary: 1000}, phase: training, sequence_length: 30, "
                  "microbatch: 2, sequences: 5, parallel: {tensor: 4, pipeline: 3, "
                  "sequence: true}}",
                  4),
      (Problems{"workload.parallel: tensor 4 x data 1 x pipeline 3 = 12 GPUs, but the cluster has "
                "32; tensor x pipeline must divide that",
                "workload.parallel.tensor: 10 heads do not divide among 4 GPUs; nearest: 2 or 5",
                "workload.model.kv_heads: 4 do not divide the 10 query heads; nearest: 2 or 5",
                "workload.parallel.pipeline: 3 stages for 2 layers; at most 2",
                "workload.model.inner: 250 elements do not divide among 4 tensor-parallel GPUs; "
                "nearest: 248 or 252",
                "workload.sequences: 5 do not divide among 1 copies of the model in microbatches "
                "of 2; nearest: 4 or 6",
                "workload.sequence_length: 30 tokens do not divide among 4 tensor-parallel GPUs, "
                "each of which sends some (parallel.sequence); nearest: 28 or 32"}));
}

TEST(DecoderRules, the_copies_that_are_missing_are_named) {
  EXPECT_EQ(problems_of("{base: models/llama3_8b, phase: prefill, " + kRun +
                            "sequences: 2, parallel: {tensor: 8}}",
                        4),
            (Problems{"workload.parallel: tensor 8 x data 1 x pipeline 1 = 8 GPUs, but the cluster "
                      "has 32; data: 4 would be right"}));
}

TEST(DecoderRules, keys_belong_to_a_phase_a_kind_or_a_size) {
  EXPECT_EQ(problems_of("{base: models/llama3_8b, phase: decode, " + kRun +
                            "sequences: 16, gradient_dtype: bf16, recompute: layer, parallel: "
                            "{data: 8, expert: 2, sequence: true, sharded_optimizer: true}}",
                        1),
            (Problems{"workload.gradient_dtype: only for phase: training; remove it, or if it "
                      "comes from a base write 'gradient_dtype: ~'",
                      "workload.parallel.expert: only for kind: moe; remove it, or if it comes "
                      "from a base write 'expert: ~'",
                      "workload.parallel.sequence: only for parallel.tensor above 1; remove it, or "
                      "if it comes from a base write 'sequence: ~'",
                      "workload.parallel.sharded_optimizer: only for phase: training; remove it, "
                      "or if it comes from a base write 'sharded_optimizer: ~'",
                      "workload.recompute: only for phase: training of a transformer; remove it, "
                      "or if it comes from a base write 'recompute: ~'"}));
}

TEST(DecoderRules, phases_belong_to_kinds) {
  EXPECT_EQ(problems_of("{base: models/llama3_8b, phase: inference, " + kRun +
                            "sequences: 16, parallel: {data: 8}}",
                        1),
            (Problems{"workload.phase: a decoder has the phases training, prefill and decode; "
                      "inference belongs to dlrm"}));
  EXPECT_EQ(
      problems_of("{base: models/dlrm_public_128, phase: decode}", 1),
      (Problems{"workload.phase: a model of kind dlrm has the phases training and inference"}));
}

TEST(DecoderRules, experts_divide_among_gpus_that_there_are) {
  EXPECT_EQ(
      problems_of("{base: models/mixtral_8x7b, phase: decode, sequences: 24, microbatch: 3, "
                  "sequence_length: 8, parallel: {data: 8, expert: 3}, moe: {top_k: 9, "
                  "dense_layers: 40, router: histogram, histogram: [1, 2]}, model: {inner: 64}}",
                  1),
      (Problems{"workload.parallel.expert: 8 experts do not divide among 3 GPUs; nearest: 2 or 4",
                "workload.parallel.expert: 3 do not divide the 8 GPUs of a stage, tensor x data; "
                "nearest: 2 or 4",
                "workload.moe.top_k: 9 of 8 experts; at most 8",
                "workload.moe.histogram: 2 numbers for 8 experts; there must be one for each",
                "workload.moe.dense_layers: 40 of 32 layers leave none with experts; at most 31"}));
  EXPECT_EQ(problems_of("{base: models/mixtral_8x7b, phase: decode, sequences: 8, microbatch: 2, "
                        "sequence_length: 8, parallel: {tensor: 4, data: 2, expert: 8}, "
                        "moe: {router: histogram, histogram: [1, 0, 0, 0, 0, 0, 0, 0]}}",
                        1),
            (Problems{"workload.microbatch: 2 tokens do not divide among 4 tensor-parallel GPUs, "
                      "each of which sends some to the experts; nearest: 4",
                      "workload.moe.histogram: only 1 of 8 are ever used, but a token goes "
                      "through 2"}));
}

// 70.6 B parameters x 2 B on 8 GPUs, and of each of 10^10 tokens 80 layers x 2 x 128 x 2 B.
TEST(DecoderRules, a_model_must_fit_in_memory) {
  EXPECT_EQ(problems_of("{base: models/llama3_70b, phase: decode, sequence_length: 1000000, "
                        "microbatch: 10000, sequences: 10000, parallel: {tensor: 8}}",
                        1),
            (Problems{"workload.model: it takes 409619 GB of a GPU of stage 0, whose memory holds "
                      "100 TB: keys and values of all tokens 409600 GB; use more parallel.tensor "
                      "or parallel.pipeline, or fewer sequences; run.beyond_memory: warn simulates "
                      "it all the same"}));
}

// As problems_of, on GPUs of less memory; with its level.
Problems problems_within(const std::string& memory, const std::string& workload,
                         const std::string& more = "") {
  std::string text = models_testing::text_of(workload, 1);
  text.replace(text.find("100 TB"), 6, memory).insert(text.size() - 1, more);
  const Loaded loaded = load_scenario_text(text, "a.yaml", models_testing::shipped_configs());
  Problems messages;
  for (const Diagnostic& problem : loaded.problems.all()) {
    messages.push_back(std::string(problem.severity == Severity::error ? "error: " : "warning: ") +
                       problem.path + ": " + problem.message);
  }
  return messages;
}

// A GPU has an eighth of 4 layers of 12 h^2 weights and 2 h of norms, the latter whole, and of the
// vocabulary: 405 M weights, 0.81 GB, 1.62 of gradients, 4.86 of the optimiser. Of 16,384 tokens a
// layer keeps 32 h / 8 B and 4 B a head, 0.537 GB (decoder_memory_test.cc), the head 0.079.
const std::string kLarge =
    "{kind: transformer, phase: training, model: {layers: 4, hidden: 8192, heads: 64, inner: "
    "32768, "
    "gated: false, vocabulary: 1000}, sequence_length: 2048, microbatch: 8, sequences: 8, "
    "parallel: {tensor: 8, sequence: true}";
const std::string kTakes =
    "workload.model: it takes 9.51 GB of a GPU of stage 0, whose memory holds 9 GB: optimiser 4.86 "
    "GB, activations of 1 microbatch's part 2.15 GB, gradients 1.62 GB, weights 0.81 GB, logits "
    "0.0794 GB; it would fit with ";

// Three layers have less by 12 h / 8 B a token (0.604 GB) or 20 (1.01). With layers computed again
// four inputs (0.134 GB) and a layer are kept. Half of the tokens keep half of 2.23 GB.
const std::string kFits =
    "recompute: selective of [layernorm, activation] (8.91 GB), recompute: selective of "
    "[layernorm, mlp] (8.51 GB), recompute: layer (8.04 GB), or microbatch: 4 (8.4 GB)";

TEST(DecoderRules, what_does_not_fit_is_refused_with_what_would) {
  EXPECT_EQ(
      problems_within("9 GB", kLarge + "}"),
      Problems{"error: " + kTakes + kFits + "; run.beyond_memory: warn simulates it all the same"});
  EXPECT_EQ(problems_within("9 GB", kLarge + ", recompute: layer}"), Problems{});
  EXPECT_EQ(problems_within("9 GB", kLarge + "}", ", run: {beyond_memory: warn}"),
            Problems{"warning: " + kTakes + kFits});
}

// The states alone are 7.29 GB.
TEST(DecoderRules, where_no_key_is_enough_several_are_named) {
  const Problems problems = problems_within("7 GB", kLarge + "}");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].find("; use more parallel.tensor or parallel.pipeline, or parallel.shard, "
                             "or recompute: layer, or a smaller microbatch; run.beyond_memory"),
            std::string::npos)
      << problems[0];
}

// Of 205 M weights a GPU has 2 B, 4 of the gradient and 12 of the optimiser: 3.7 GB. Eight copies
// that share the last two have 4 B, or 2 and two gathered layers and the ends, 0.21 GB. Activations
// and logits are 0.035.
TEST(DecoderRules, copies_may_share_what_does_not_fit) {
  EXPECT_EQ(problems_within("1 GB",
                            "{kind: transformer, phase: training, model: {layers: 4, hidden: 2048, "
                            "heads: 16, inner: 8192, vocabulary: 1000, gated: false}, "
                            "sequence_length: 128, microbatch: 1, sequences: 8, "
                            "parallel: {data: 8}}"),
            Problems{"error: workload.model: it takes 3.73 GB of a GPU of stage 0, whose memory "
                     "holds 1 GB: optimiser 2.47 GB, gradients 0.822 GB, weights 0.411 GB, "
                     "activations of 1 microbatch's part 0.0336 GB; it would fit with "
                     "parallel.shard: gradients (0.857 GB), or parallel.shard: parameters (0.656 "
                     "GB); run.beyond_memory: warn simulates it all the same"});
}

// 8 of 64 sequences on a GPU, each with 4 layers of 1,000 tokens of 2 x 4096 elements: 0.0655 GB;
// 814 M weights: 1.63 GB. Of 0.37 GB there are five.
TEST(DecoderRules, fewer_sequences_may_fit) {
  EXPECT_EQ(problems_within("2 GB",
                            "{kind: transformer, phase: decode, model: {layers: 4, hidden: 4096, "
                            "heads: 32, inner: 16384, vocabulary: 1000, gated: false}, "
                            "sequence_length: 1000, microbatch: 1, sequences: 64, "
                            "parallel: {data: 8}}"),
            Problems{"error: workload.model: it takes 2.15 GB of a GPU of stage 0, whose memory "
                     "holds 2 GB: weights 1.63 GB, keys and values of all tokens 0.524 GB; it "
                     "would fit with sequences: 40 (1.95 GB); run.beyond_memory: warn simulates it "
                     "all the same"});
}

TEST(DecoderRules, what_cannot_be_counted_is_refused) {
  EXPECT_EQ(problems_of("{base: models/llama3_70b, phase: training, sequence_length: 100000000, "
                        "microbatch: 1000, sequences: 1000, parallel: {tensor: 8}}",
                        1),
            (Problems{"workload.microbatch: one operator has too many operations or bytes to "
                      "count; use a smaller microbatch or shorter sequences"}));
  EXPECT_EQ(problems_of("{base: models/llama3_8b, phase: training, sequence_length: 8, "
                        "microbatch: 1, sequences: 1000000, parallel: {tensor: 8}}",
                        1),
            (Problems{"workload.sequences: 1000000 microbatches through 32 layers are more than a "
                      "million; use larger microbatches"}));
}

TEST(DecoderRules, a_schedule_says_what_it_demands) {
  const auto problems = [](const std::string& parallel, const std::string& sequences) {
    return problems_of(
        "{kind: transformer, model: {layers: 6, hidden: 64, heads: 8, inner: 256, "
        "vocabulary: 1000}, phase: training, " +
            kRun + "sequences: " + sequences + ", parallel: {" + parallel + "}}",
        1);
  };
  EXPECT_EQ(
      problems("tensor: 2, pipeline: 4, schedule: interleaved, virtual_stages: 2", "12"),
      (Problems{"workload.parallel.virtual_stages: 2 virtual stages of 4 stages for 6 layers; "
                "at most 3 stages",
                "workload.parallel.schedule: interleaved: 6 microbatches per copy do not "
                "divide by 4 stages, which take them in groups of that size; nearest: 4 and "
                "8"}));
  EXPECT_EQ(
      problems("tensor: 4, pipeline: 2, schedule: breadth_first, virtual_stages: 4", "16"),
      (Problems{"workload.parallel.virtual_stages: 4 virtual stages of 2 stages for 6 layers; "
                "at most 3 virtual stages"}));
  EXPECT_EQ(problems("tensor: 2, pipeline: 4, schedule: zb_v", "16"),
            (Problems{"workload.parallel.pipeline: 2 virtual stages of 4 stages for 6 layers; at "
                      "most 3 stages"}));
  EXPECT_EQ(problems("tensor: 4, pipeline: 2, schedule: dualpipe_v", "6"),
            (Problems{"workload.parallel.schedule: dualpipe_v: 3 microbatches per copy are fewer "
                      "than the 4 parts of 2 stages; at least as many are needed"}));
  EXPECT_EQ(problems("tensor: 2, pipeline: 4, first_layers: 1", "16"),
            (Problems{"workload.parallel.first_layers: they leave 5 of 6 layers for the 3 other "
                      "parts of the pipeline, which must have equally many, at least one each; "
                      "see also workload.parallel.last_layers"}));
  EXPECT_EQ(problems("tensor: 4, pipeline: 2, layers_of_parts: [4, 2]", "16"), Problems{});
  EXPECT_EQ(problems("tensor: 2, pipeline: 4, layers_of_parts: [0, 3, 3, 0]", "16"), Problems{});
  EXPECT_EQ(problems("tensor: 2, pipeline: 4, schedule: interleaved, virtual_stages: 2, "
                     "layers_of_parts: [0, 1, 1, 1, 1, 1, 1, 0]",
                     "16"),
            Problems{});
  EXPECT_EQ(problems("tensor: 1, pipeline: 8, layers_of_parts: [0, 1, 1, 1, 1, 1, 1, 0]", "16"),
            Problems{});
  EXPECT_EQ(problems("tensor: 1, pipeline: 8, layers_of_parts: [1, 1, 1, 1, 1, 1, 0, 0]", "16"),
            (Problems{"workload.parallel.layers_of_parts: only the first and the last part may "
                      "have none"}));
  EXPECT_EQ(problems("tensor: 2, pipeline: 4, layers_of_parts: [2, 2, 2]", "16"),
            (Problems{"workload.parallel.layers_of_parts: 3 numbers for 4 parts of the pipeline"}));
  EXPECT_EQ(problems("tensor: 2, pipeline: 4, layers_of_parts: [2, 0, 2, 1]", "16"),
            (Problems{"workload.parallel.layers_of_parts: they are 5 layers together, and the "
                      "model has 6",
                      "workload.parallel.layers_of_parts: only the first and the last part may "
                      "have none"}));
  EXPECT_EQ(problems("tensor: 4, pipeline: 2, layers_of_parts: [3, 3], last_layers: 3", "16"),
            (Problems{"workload.parallel.layers_of_parts: only one of both: each part's layers, or "
                      "those at the ends; see also workload.parallel.last_layers"}));
  EXPECT_EQ(
      problems("tensor: 4, pipeline: 2, schedule: 1f1b, virtual_stages: 2", "16"),
      (Problems{
          "workload.parallel.virtual_stages: only for schedule: interleaved, combined_1f1b or "
          "breadth_first; remove it, or if it comes from a base write "
          "'virtual_stages: ~'"}));
}

}  // namespace
}  // namespace weft::decoder_rules_test
