// Every decoder that is shipped, against what is published of it and the textbook's formulas.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/scenario/decoder_size.h"
#include "tests/unit/models/built.h"

namespace weft::decoder_presets_test {
namespace {

using models_testing::buffer_of;
using models_testing::expect_within_one_percent;
using models_testing::ops_named;
using models_testing::scenario_of;

double real(std::int64_t count) { return static_cast<double>(count); }

struct Preset {
  std::string name;
  double parameters;  // published
  double products;    // weights that each token goes through, without the embedding
  int layers;
  double hidden;
  double of_heads;  // heads x head_dim
  double vocabulary;
};

// Table 3 of arXiv:2407.21783; table 2.1 of arXiv:2005.14165; model cards of Qwen3 and of Mistral
// 7B (7.24 B; its window is longer than these sequences). Products: h (2
// heads + 2 kv_heads) d + 3 h inner (GPT-3: 4 h^2 + 8 h^2) a layer, and the head.
const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"llama3_8b", 8.03e9, 32 * (4096.0 * (64 + 16) * 128 + 3 * 4096.0 * 14336) + 4096 * 128256.0,
       32, 4096, 4096, 128256},
      {"llama3_70b", 70.6e9,
       80 * (8192.0 * (128 + 16) * 128 + 3 * 8192.0 * 28672) + 8192 * 128256.0, 80, 8192, 8192,
       128256},
      {"llama3_405b", 405.9e9,
       126 * (16384.0 * (256 + 16) * 128 + 3 * 16384.0 * 53248) + 16384 * 128256.0, 126, 16384,
       16384, 128256},
      {"gpt3_175b", 174.6e9, 96 * 12 * 12288.0 * 12288 + 12288 * 50257.0, 96, 12288, 12288, 50257},
      {"qwen3_8b", 8.2e9, 36 * (4096.0 * (64 + 16) * 128 + 3 * 4096.0 * 12288) + 4096 * 151936.0,
       36, 4096, 4096, 151936},
      {"qwen3_32b", 32.8e9, 64 * (5120.0 * (128 + 16) * 128 + 3 * 5120.0 * 25600) + 5120 * 151936.0,
       64, 5120, 8192, 151936},
      {"mistral_7b", 7.24e9, 32 * (4096.0 * (64 + 16) * 128 + 3 * 4096.0 * 14336) + 4096 * 32000.0,
       32, 4096, 4096, 32000}};
  return all;
}

std::string workload(const Preset& preset, const std::string& more) {
  return "{base: models/" + preset.name + ", sequence_length: 2048, " + more + "}";
}

TEST(DecoderPresets, have_the_parameters_that_are_published) {
  for (const Preset& preset : presets()) {
    const Scenario scenario = scenario_of(workload(preset,
                                                   "phase: prefill, sequences: 1, microbatch: 1, "
                                                   "parallel: {tensor: 8}"),
                                          1);
    expect_within_one_percent(real(parameters_of(scenario.workload.transformer)),
                              preset.parameters);
  }
}

// (query, key) pairs of a causal sequence.
double pairs(double length) { return length * (length + 1) / 2; }

// 2 FLOP a weight and token forward, 4 backward; attention 2 products a pair and head forward, and
// 5 backward, which computes the scores again.
TEST(DecoderPresets, training_takes_six_operations_a_weight_and_token) {
  for (const Preset& preset : presets()) {
    const ModelGraph graph = build_model(
        scenario_of(workload(preset,
                             "phase: training, sequences: 8, microbatch: 1, "
                             "parallel: {tensor: 8, pipeline: 8, data: 2, sequence: true}"),
                    16));
    const double attention = 8 * preset.layers * 14 * preset.of_heads * pairs(2048);
    expect_within_one_percent(product_flops(graph), 8 * 2048 * 6 * preset.products + attention);
  }
}

TEST(DecoderPresets, computing_layers_again_takes_eight) {
  for (const Preset& preset : presets()) {
    const ModelGraph graph = build_model(
        scenario_of(workload(preset,
                             "phase: training, sequences: 2, microbatch: 1, recompute: layer, "
                             "parallel: {tensor: 8, pipeline: 8, data: 2}"),
                    16));
    const double head = preset.vocabulary * preset.hidden;  // not computed again
    const double attention = 2 * preset.layers * 18 * preset.of_heads * pairs(2048);
    expect_within_one_percent(product_flops(graph),
                              2 * 2048 * (8 * preset.products - 2 * head) + attention);
  }
}

TEST(DecoderPresets, one_token_reads_every_weight_once_and_every_key) {
  for (const Preset& preset : presets()) {
    const ModelGraph graph =
        build_model(scenario_of(workload(preset,
                                         "phase: decode, sequences: 4, microbatch: 4, "
                                         "parallel: {tensor: 8}"),
                                1));
    double weights = 0;  // of one GPU: n x k of every product
    for (const ModelOp& op : graph.ops) {
      if (const auto* gemm = std::get_if<GemmShape>(&op.shape)) {
        EXPECT_EQ(gemm->m, 4);
        weights += real(gemm->n) * real(gemm->k);
      }
    }
    expect_within_one_percent(weights, preset.products / 8);
    const double attention = 4 * preset.layers * 4 * preset.of_heads * 2048;
    expect_within_one_percent(product_flops(graph), 4 * 2 * preset.products + attention);
  }
}

// Megatron-LM: a layer all-reduces b s h elements twice forward and twice backward; every stage the
// gradients of its weights once a step.
TEST(DecoderPresets, collectives_carry_the_bytes_of_the_textbook) {
  for (const Preset& preset : presets()) {
    const ModelGraph graph =
        build_model(scenario_of(workload(preset,
                                         "phase: training, sequences: 4, microbatch: 1, "
                                         "parallel: {tensor: 8, pipeline: 4, data: 4}"),
                                16));
    double in_layers = 0;
    for (const char* name :
         {"attn_out_reduce", "mlp_down_reduce", "mlp_gradient_reduce", "attn_gradient_reduce"}) {
      for (const ModelOp* op : ops_named(graph, name)) in_layers += real(buffer_of(*op).count());
    }
    EXPECT_EQ(in_layers, preset.layers * 4 * 2048 * preset.hidden * 2);
    double gradients = 0;
    for (const ModelOp* op : ops_named(graph, "gradient_sum")) {
      gradients += real(buffer_of(*op).count());
    }
    const bool tied = preset.name == "gpt3_175b";  // both ends of the pipeline have it
    expect_within_one_percent(gradients,
                              (preset.parameters + (tied ? 12288 * 50257.0 : 0)) / 8 * 4);
    for (const ModelOp* op : ops_named(graph, "send_forward")) {
      EXPECT_EQ(real(buffer_of(*op).count()), 2048 * preset.hidden * 2);
    }
  }
}

}  // namespace
}  // namespace weft::decoder_presets_test
