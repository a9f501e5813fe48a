// A recommendation model as operators: by hand where it is small, by formula where it is a preset.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/models/streams.h"
#include "sim/scenario/model_size.h"
#include "tests/unit/models/built.h"

namespace weft::dlrm_test {
namespace {

using models_testing::buffer_of;
using models_testing::expect_within_one_percent;
using models_testing::first_named;
using models_testing::names_after;
using models_testing::names_of;
using models_testing::ops_named;
using models_testing::problems_of;
using models_testing::product_flops_of_a_gpu;
using models_testing::scenario_of;

// Eight GPUs with two tables each.
const std::string kSmall =
    "kind: dlrm, batch: 64, tables_per_gpu: 2, rows_per_table: 1000, dim: 16, pooling: 10, "
    "rows_per_wg: 4, bottom_mlp: [13, 32, 16], top_mlp: [64, 1]";

ModelGraph small(const std::string& more) {
  return build_model(scenario_of("{" + kSmall + ", " + more + "}", 1));
}

TEST(Dlrm, an_answer_looks_up_first_and_exchanges_beside_the_bottom_mlp) {
  const ModelGraph graph = small("phase: inference");
  EXPECT_EQ(names_of(graph),
            (std::vector<std::string>{"embedding", "embedding_all_to_all", "bottom_mlp",
                                      "bottom_mlp_activation", "bottom_mlp",
                                      "bottom_mlp_activation", "interaction", "top_mlp",
                                      "top_mlp_activation", "top_mlp", "top_mlp_activation"}));
  const ModelOp& exchange = first_named(graph, "embedding_all_to_all");
  EXPECT_EQ(names_after(graph, exchange), std::vector<std::string>{"embedding"});
  EXPECT_EQ(exchange.stream, kCritical);
  EXPECT_EQ(names_after(graph, first_named(graph, "interaction")),
            std::vector<std::string>{"embedding_all_to_all"});
  ASSERT_EQ(graph.places.size(), 1U);
  EXPECT_EQ(graph.places[PlaceId(0)].groups,
            (std::vector<std::vector<std::uint32_t>>{{0, 1, 2, 3, 4, 5, 6, 7}}));
}

TEST(Dlrm, training_sums_each_layers_gradients_beside_the_rest_of_the_way_back) {
  const ModelGraph graph = small("phase: training, gradient_bucket: 1 B");
  const std::vector<std::string> all = names_of(graph);
  EXPECT_EQ(std::vector<std::string>(all.begin() + 11, all.end()),
            (std::vector<std::string>{"loss",
                                      "top_mlp_activation_backward",
                                      "top_mlp_input_gradient",
                                      "top_mlp_weight_gradient",
                                      "mlp_all_reduce",
                                      "top_mlp_activation_backward",
                                      "top_mlp_input_gradient",
                                      "top_mlp_weight_gradient",
                                      "mlp_all_reduce",
                                      "interaction_backward",
                                      "gradient_all_to_all",
                                      "bottom_mlp_activation_backward",
                                      "bottom_mlp_input_gradient",
                                      "bottom_mlp_weight_gradient",
                                      "mlp_all_reduce",
                                      "bottom_mlp_activation_backward",
                                      "bottom_mlp_weight_gradient",
                                      "mlp_all_reduce",
                                      "embedding_backward",
                                      "mlp_optimizer"}));
  const std::vector<const ModelOp*> sums = ops_named(graph, "mlp_all_reduce");
  ASSERT_EQ(sums.size(), 4U);
  EXPECT_EQ(sums[1]->stream, kDataParallel);
  EXPECT_EQ(names_after(graph, *sums[1]), std::vector<std::string>{"top_mlp_weight_gradient"});
  EXPECT_EQ(names_after(graph, *sums[2]), std::vector<std::string>{"bottom_mlp_weight_gradient"});
  EXPECT_EQ(names_after(graph, first_named(graph, "gradient_all_to_all")),
            std::vector<std::string>{"interaction_backward"});
  EXPECT_EQ(names_after(graph, first_named(graph, "embedding_backward")),
            std::vector<std::string>{"gradient_all_to_all"});
  EXPECT_EQ(names_after(graph, first_named(graph, "mlp_optimizer")),
            std::vector<std::string>{"mlp_all_reduce"});
}

// 16 vectors of 16 and the dense one: 17 x 16 / 2 pairs behind 16 elements.
TEST(Dlrm, shapes_of_a_small_model_are_as_computed_by_hand) {
  const ModelGraph graph = small("phase: training, gradient_dtype: fp32, gradient_bucket: 1 B");
  const auto& first = std::get<GemmShape>(first_named(graph, "top_mlp").shape);
  EXPECT_EQ(first.m, 8);
  EXPECT_EQ(first.n, 64);
  EXPECT_EQ(first.k, 136 + 16);
  const auto& weights =
      std::get<GemmShape>(ops_named(graph, "top_mlp_weight_gradient").at(1)->shape);
  EXPECT_EQ(weights.m, 64);
  EXPECT_EQ(weights.n, 152);
  EXPECT_EQ(weights.k, 8);
  EXPECT_EQ(buffer_of(first_named(graph, "embedding_all_to_all")), bytes(64 * 2 * 16 * 4));
  EXPECT_EQ(buffer_of(first_named(graph, "gradient_all_to_all")), bytes(64 * 2 * 16 * 4));
  EXPECT_EQ(buffer_of(*ops_named(graph, "mlp_all_reduce").at(1)), bytes(64 * 152 * 4));
  const auto& stream = std::get<StreamShape>(first_named(graph, "interaction").shape);
  EXPECT_EQ(stream.read, bytes(8 * 16 * 16 * 4 + 8 * 16 * 2));
  EXPECT_EQ(stream.written, bytes(8 * 152 * 2));
  EXPECT_EQ(stream.flops, flops(8 * 136 * 16 * 2));
}

// 256 and 38,912 B of the top MLP are together above 30 kB, 2,048 and 1,664 B of the bottom not.
TEST(Dlrm, gradients_wait_until_a_bucket_is_full) {
  const ModelGraph graph = small("phase: training, gradient_bucket: 30 kB");
  const std::vector<const ModelOp*> sums = ops_named(graph, "mlp_all_reduce");
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(buffer_of(*sums[0]), bytes(256 + 38'912));
  EXPECT_EQ(buffer_of(*sums[1]), bytes(2'048 + 1'664));
  EXPECT_EQ(ops_named(small("phase: training"), "mlp_all_reduce").size(), 1U);
}

TEST(Dlrm, interaction_gives_pairs_or_all_vectors_or_their_sum) {
  DlrmSpec dlrm;
  dlrm.bottom_mlp = {13, 16};
  EXPECT_EQ(interaction_size(dlrm, 64, 16), 64 * 65 / 2 + 16);
  dlrm.interaction = Interaction::concat;
  EXPECT_EQ(interaction_size(dlrm, 64, 16), 65 * 16);
  dlrm.interaction = Interaction::sum;
  EXPECT_EQ(interaction_size(dlrm, 64, 16), 16);
}

// Four rows of a WG, each +- 50 %: together half as much.
TEST(Dlrm, a_spread_of_the_pooling_is_less_of_a_wg_with_many_rows) {
  const ModelGraph graph = small("phase: inference, pooling_spread: 0.5");
  const auto& bag = std::get<EmbeddingShape>(first_named(graph, "embedding").shape);
  EXPECT_DOUBLE_EQ(bag.work.jitter, 0.25);
}

double weights_of(const std::vector<MlpLayer>& layers) {
  double sum = 0;
  for (const MlpLayer& layer : layers) {
    sum += static_cast<double>(layer.in) * static_cast<double>(layer.out);
  }
  return sum;
}

// Training: 6 FLOP a weight and sample, less the first layer's unused gradient of its input.
TEST(DlrmPresets, the_public_example_multiplies_six_times_its_weights) {
  const Scenario scenario = scenario_of("{base: models/dlrm_public_128, phase: training}", 8);
  const ModelGraph graph = build_model(scenario);
  const double bottom = 2000 * 1024 + 1024 * 1024 + 1024 * 128;
  const double top = (64 * 65 / 2 + 128) * 4096.0 + 2 * 4096.0 * 4096 + 4096;
  expect_within_one_percent(product_flops_of_a_gpu(graph),
                            32 * (6 * (bottom + top) - 2 * 2000.0 * 1024));
  const double all_reduced = weights_of(bottom_layers(scenario.workload.dlrm)) +
                             weights_of(top_layers(scenario.workload.dlrm, 64, 128));
  EXPECT_EQ(all_reduced, bottom + top);
  EXPECT_EQ(buffer_of(first_named(graph, "embedding_all_to_all")), bytes(2048 * 128 * 4));
  const ModelOp& lookup = first_named(graph, "embedding");
  EXPECT_EQ(flops_of(lookup.shape), flops(2048LL * 100 * 128));
}

// Every size that the file names comes out of the shapes.
TEST(DlrmPresets, the_example_of_astra_sim_gives_the_bytes_of_its_file) {
  const ModelGraph graph = build_model(scenario_of(
      "{base: models/dlrm_astra_sim, phase: training, gradient_dtype: fp16, gradient_bucket: 1 B}",
      8));
  EXPECT_EQ(buffer_of(first_named(graph, "embedding_all_to_all")), bytes(98'304));
  EXPECT_EQ(buffer_of(first_named(graph, "gradient_all_to_all")), bytes(98'304));
  std::vector<std::int64_t> sums;
  for (const ModelOp& op : graph.ops) {
    if (op.part == "all_reduce") sums.push_back(buffer_of(op).count());
  }
  EXPECT_EQ(sums, (std::vector<std::int64_t>{524'288, 524'288, 1'064'960, 16'384, 524'288, 524'288,
                                             13'312}));
}

TEST(DlrmPresets, the_fused_papers_model_has_43_layers_of_682) {
  const Scenario scenario = scenario_of("{base: models/dlrm_fused_paper, phase: training}", 16);
  const DlrmSpec& dlrm = scenario.workload.dlrm;
  double sizes = 0;
  int count = 0;
  for (const auto& layers : {bottom_layers(dlrm), top_layers(dlrm, 4096, 92)}) {
    for (const MlpLayer& layer : layers) {
      sizes += static_cast<double>(layer.out);
      ++count;
    }
  }
  EXPECT_EQ(count, 43);
  EXPECT_DOUBLE_EQ(sizes / count, 682);
  const ModelGraph graph = build_model(scenario);
  EXPECT_EQ(buffer_of(first_named(graph, "embedding_all_to_all")), bytes(8192LL * 32 * 92 * 4));
  const double weights = weights_of(bottom_layers(dlrm)) + weights_of(top_layers(dlrm, 4096, 92));
  expect_within_one_percent(product_flops_of_a_gpu(graph), 64 * (6 * weights - 2 * 713.0 * 713));
}

// 204,184,588 rows of 128 in all; bottom MLP, three cross layers of rank 512 on 3,456, top MLP.
TEST(DlrmPresets, mlperfs_model_has_its_rows_and_weights) {
  const Scenario scenario = scenario_of("{base: models/dlrm_dcnv2_mlperf, phase: training}", 1);
  const DlrmSpec& dlrm = scenario.workload.dlrm;
  const EmbeddingWork& tables = scenario.workload.embedding;
  const std::int64_t pieces = std::int64_t{8} * tables.tables_per_gpu;
  const auto rows = static_cast<double>(pieces * tables.rows_per_table * tables.dim);
  expect_within_one_percent(rows, 204'184'588.0 * 128);
  const double bottom = 13 * 512 + 512 * 256 + 256 * 128;
  const double cross = 3 * 2 * 3456 * 512;
  const double top = 3456 * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256;
  EXPECT_EQ(weights_of(bottom_layers(dlrm)), bottom);
  EXPECT_EQ(weights_of(top_layers(dlrm, pieces, tables.dim)), cross + top);
  const ModelGraph graph = build_model(scenario);
  expect_within_one_percent(product_flops_of_a_gpu(graph),
                            8192 * (6 * (bottom + cross + top) - 2 * 13.0 * 512));
}

TEST(DlrmRules, say_everything_at_once) {
  EXPECT_EQ(
      problems_of("{kind: dlrm, batch: 60, tables_per_gpu: 2, rows_per_table: 1000, dim: 16, "
                  "pooling: 10, rows_per_wg: 4, bottom_mlp: [13, 20], top_mlp: [0], "
                  "mlp_dtype: fp32, gradient_dtype: fp16, phase: inference}",
                  1),
      (std::vector<std::string>{
          "workload.gradient_dtype: only for phase: training; remove it, or if it comes from a "
          "base write 'gradient_dtype: ~'",
          "workload.top_mlp: each number must be from 1 to 10000000, in plain digits",
          "workload.batch: 60 samples do not divide among 8 GPUs in blocks of rows_per_wg; "
          "nearest: "
          "32 or 64",
          "workload.bottom_mlp: its last layer outputs 20 elements, but they interact with rows of "
          "dim "
          "16; end it with 16, or use interaction: concat",
          "workload.mlp_dtype: the GPU's file has no matrix rate for fp32; use bf16 or fp16"}));
}

TEST(DlrmRules, keys_of_a_model_belong_to_its_kind) {
  EXPECT_EQ(problems_of("{kind: collective, op: all_reduce, bytes: 1 MB, phase: training, "
                        "top_mlp: [1]}",
                        1),
            (std::vector<std::string>{"workload.phase: only for kind: dlrm, transformer or moe; "
                                      "remove it, or if it comes from a base write 'phase: ~'",
                                      "workload.top_mlp: only for kind: dlrm; remove it, or if it "
                                      "comes from a base write 'top_mlp: ~'"}));
}

TEST(DlrmRules, a_model_must_fit) {
  EXPECT_EQ(problems_of("{kind: dlrm, batch: 64, tables_per_gpu: 100000, rows_per_table: 1, "
                        "dim: 16, pooling: 10, rows_per_wg: 4, bottom_mlp: [13, 16], "
                        "top_mlp: [10000000, 1], phase: inference}",
                        1),
            (std::vector<std::string>{
                "workload.top_mlp: the weights of both MLPs take 6400008000 GB on every GPU, whose "
                "memory holds 100 TB; use smaller layers, or interaction: sum"}));
}

}  // namespace
}  // namespace weft::dlrm_test
